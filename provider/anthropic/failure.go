package anthropic

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"

	"jp/provider"
)

// How much is read of the body of a failure, and kept of its words.
const (
	mostFailureBytes = 64 << 10
	mostWords        = 500 // characters
)

// answered lets only a response through that is an answer. It stands inside of
// the SDK, which would read a failure of any length.
func answered(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	response, err := next(request)
	if err != nil || response.StatusCode == http.StatusOK && isEvents(response.Header) {
		return response, err
	}
	defer response.Body.Close()
	// What is there of the words is better than the reason why there is no more.
	body, _ := io.ReadAll(io.LimitReader(response.Body, mostFailureBytes))
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	return nil, refused(response, body)
}

// isEvents reports whether a body may be a stream of events: it says so, or
// says nothing.
func isEvents(header http.Header) bool {
	declared := header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(declared)
	return declared == "" || err == nil && media == "text/event-stream"
}

// wireError is how the API words an error.
type wireError struct {
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// refused is the error that a response stands for.
func refused(response *http.Response, body []byte) error {
	failure := &provider.Error{
		Provider: API, Status: response.StatusCode,
		RetryAfter: provider.RetryAfter(response.Header),
	}
	var wire wireError
	if json.Unmarshal(body, &wire) != nil || wire.Error.Message == "" {
		wire.Error.Message = string(body)
	}
	failure.Message = wire.Error.Message
	failure.Class = classOf(wire.Error.Type, response.StatusCode, wire.Error.Message)
	switch {
	case wire.Error.Type != "":
	case response.StatusCode == http.StatusOK:
		failure.Message = "the answer is no stream of events"
	case response.StatusCode < http.StatusBadRequest:
		failure.Message = "the server answers elsewhere, or not at all"
	case blank(failure.Message):
		failure.Message = http.StatusText(response.StatusCode)
	}
	return failure
}

// failed is the error that an event stands for.
func failed(data []byte) error {
	var wire wireError
	if json.Unmarshal(data, &wire) != nil || wire.Error.Message == "" {
		wire.Error.Message = string(data)
	}
	return &provider.Error{
		Provider: API, Class: classOf(wire.Error.Type, http.StatusInternalServerError, wire.Error.Message), Message: wire.Error.Message,
	}
}

// classOf is the class of an error by its type and, where that is unknown or
// says little, by its status and its words.
func classOf(kind string, status int, message string) provider.Class {
	switch kind {
	case "overloaded_error", "api_error":
		return provider.ClassOverloaded
	case "timeout_error":
		return provider.ClassTimeout
	case "rate_limit_error":
		return provider.ClassRateLimit
	case "authentication_error", "permission_error":
		return provider.ClassAuth
	case "billing_error":
		return provider.ClassQuota
	case "not_found_error":
		return provider.ClassModel
	case "request_too_large":
		return provider.ClassContext
	case "invalid_request_error":
		return classOfWords(message)
	}
	return classOfStatus(status, message)
}

func classOfStatus(status int, message string) provider.Class {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return provider.ClassAuth
	case http.StatusPaymentRequired:
		return provider.ClassQuota
	case http.StatusNotFound:
		return provider.ClassModel
	case http.StatusRequestTimeout:
		return provider.ClassTimeout
	case http.StatusRequestEntityTooLarge:
		return provider.ClassContext
	case http.StatusTooManyRequests:
		return provider.ClassRateLimit
	}
	if status >= http.StatusInternalServerError {
		return provider.ClassOverloaded
	}
	return classOfWords(message)
}

// classOfWords tells apart what the API calls an invalid request.
func classOfWords(message string) provider.Class {
	message = strings.ToLower(message)
	for _, words := range []string{"prompt is too long", "exceed context limit", "context window"} {
		if strings.Contains(message, words) {
			return provider.ClassContext
		}
	}
	for _, words := range []string{"credit balance is too low", "usage limits"} {
		if strings.Contains(message, words) {
			return provider.ClassQuota
		}
	}
	for _, words := range []string{"invalid `signature` in `thinking`", "invalid signature in thinking", "blocks in the latest assistant message cannot be modified"} {
		if strings.Contains(message, words) {
			return provider.ClassState
		}
	}
	return provider.ClassInvalid
}

// failure is what went wrong with a request, as an error of this provider.
func (p *Provider) failure(err error) error {
	var known *provider.Error
	if errors.As(err, &known) {
		known.Message = p.plain(known.Message)
		return known
	}
	var network net.Error
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate), errors.As(err, &notTLS):
		return &provider.Error{Provider: API, Err: err}
	case errors.As(err, &network) && network.Timeout():
		return &provider.Error{Provider: API, Class: provider.ClassTimeout, Err: err}
	}
	return &provider.Error{Provider: API, Class: provider.ClassDisconnect, Err: fmt.Errorf("read answer: %w", err)}
}

// plain is a server's words on one line, cut, and without the key.
func (p *Provider) plain(message string) string {
	message = provider.Masked(strings.ToValidUTF8(message, "\uFFFD"), p.options.Key)
	words := []rune(strings.Join(strings.Fields(message), " "))
	if len(words) > mostWords {
		return string(words[:mostWords]) + "…"
	}
	return string(words)
}
