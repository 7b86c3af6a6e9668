package anthropic

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"

	"jp/provider"
)

// How much is read of the body of a failure, and kept of its words.
const (
	mostFailureBytes = 64 << 10
	mostWords        = 500 // characters
)

// answered only passes responses that may be an answer. It runs inside of the SDK, which would read a failure
// of any length.
func answered(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	response, err := next(request)
	if err != nil || response.StatusCode == http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	// A part of the text is better than the reason for its end.
	body, _ := io.ReadAll(io.LimitReader(response.Body, mostFailureBytes))
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	return nil, refused(response, body)
}

// refused is the error of a response.
func refused(response *http.Response, body []byte) error {
	failure := &provider.Error{
		Provider: API, Status: response.StatusCode,
		RetryAfter: provider.RetryAfter(response.Header),
	}
	c := complaintIn(body)
	failure.Message = c.Message
	failure.Class = classOf(c.Type, response.StatusCode, c.Message)
	if c.MissesModel(response.StatusCode) {
		failure.Class = provider.ClassModel
	}
	switch {
	case failure.Class == provider.ClassAddress:
		failure.Message = strings.TrimSpace(c.Message) + addressOf(response)
	case response.StatusCode < http.StatusBadRequest:
		failure.Message = "the server answers elsewhere, or not at all"
	case blank(failure.Message):
		failure.Message = http.StatusText(response.StatusCode)
	}
	return failure
}

// addressOf names the address that was asked, without anything secret.
func addressOf(response *http.Response) string {
	if response.Request == nil || response.Request.URL == nil {
		return ""
	}
	return " (asked: " + provider.EndpointOf(response.Request.URL.String()) + ")"
}

// complaintIn is the complaint in a body or an event. Without a message it is the whole text.
func complaintIn(data []byte) provider.Complaint {
	c := provider.ComplaintIn(data)
	if blank(c.Message) {
		c.Message = string(data)
	}
	return c
}

// failed is the error of an event.
func failed(data []byte) error {
	c := complaintIn(data)
	status := c.HTTP()
	if status == 0 {
		status = http.StatusInternalServerError
		if class := provider.ClassOfWords(c.Type + " " + c.Message); class != "" && !isKnown(c.Type) {
			return &provider.Error{Provider: API, Class: class, Message: c.Message}
		}
	}
	return &provider.Error{Provider: API, Class: classOf(c.Type, status, c.Message), Message: c.Message}
}

// isKnown reports whether the API documents an error type. Gateways have types of their own.
func isKnown(kind string) bool {
	return slices.Contains([]string{
		"overloaded_error", "api_error", "timeout_error", "rate_limit_error", "authentication_error", "permission_error",
		"billing_error", "not_found_error", "request_too_large", "invalid_request_error",
	}, kind)
}

// classOf is the class of an error by its type. If that is unknown or vague, the status and the text decide.
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
		return provider.ClassOfMissing(message, "")
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
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return provider.ClassOfMissing(message, "")
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

// classOfWords tells apart the errors of the API's type invalid request.
func classOfWords(message string) provider.Class {
	message = strings.ToLower(message)
	switch class := provider.ClassOfWords(message); class {
	case provider.ClassContext, provider.ClassQuota:
		return class
	}
	for _, words := range []string{"invalid `signature` in `thinking`", "invalid signature in thinking", "blocks in the latest assistant message cannot be modified"} {
		if strings.Contains(message, words) {
			return provider.ClassState
		}
	}
	return provider.ClassInvalid
}

// failure is the error of a request, as an error of this provider.
func (p *Provider) failure(err error) error {
	var known *provider.Error
	if errors.As(err, &known) {
		known.Provider, known.Message = API, p.plain(known.Message)
		return known
	}
	var network net.Error
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate), errors.As(err, &notTLS):
		return &provider.Error{Provider: API, Err: err}
	case errors.Is(err, provider.ErrLongEvent):
		return &provider.Error{Provider: API, Class: provider.ClassInvalid, Err: err}
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
