package openai

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"jp/provider"
)

// Limits of the kept part of a server's complaint, in bytes.
const (
	maxComplaint = 1 << 20
	maxMessage   = 2000
)

// broken is the error of an exchange that ended early; answered says that the server had begun to answer. A
// failure before sending is the fault of the request.
func (o Options) broken(err error, answered bool) error {
	var known *provider.Error
	var network net.Error
	var certificate *tls.CertificateVerificationError
	var sent *url.Error
	class := provider.ClassDisconnect
	switch {
	case errors.As(err, &known):
		return o.failure(*known)
	case errors.As(err, &network) && network.Timeout():
		class = provider.ClassTimeout
	case errors.As(err, &certificate), errors.Is(err, provider.ErrLongEvent):
		class = provider.ClassInvalid
	case !answered && !errors.As(err, &sent) && !errors.As(err, &network):
		class = provider.ClassInvalid
	}
	return o.failure(provider.Error{Class: class, Err: err})
}

// refused is the error of a response with an error status.
func (o Options) refused(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxComplaint))
	if err != nil {
		body = nil
	}
	c := provider.ComplaintIn(body)
	if c.Message == "" {
		c.Message = strings.TrimSpace(string(body))
	}
	failure := provider.Error{
		Class: classOf(c, response.StatusCode), Status: response.StatusCode,
		Message: c.Message, RetryAfter: provider.RetryAfter(response.Header),
	}
	if failure.Class == provider.ClassAddress && response.Request != nil {
		failure.Message += " (asked: " + provider.EndpointOf(response.Request.URL.String()) + ")"
	}
	return o.failure(failure)
}

// reported is the error that a server reports in the place of an answer, or in its
// midst.
func reported(data []byte) error {
	c := provider.ComplaintIn(data)
	if c.Message == "" {
		c.Message = strings.TrimSpace(string(data))
	}
	status := c.HTTP()
	return &provider.Error{Class: classOf(c, status), Status: status, Message: c.Message}
}

// failure completes an error. A server may repeat the key in its words.
func (o Options) failure(e provider.Error) error {
	e.Provider = o.Name()
	e.Message = provider.Masked(e.Message, o.Key)
	if len(e.Message) > maxMessage {
		e.Message = strings.ToValidUTF8(e.Message[:maxMessage], "") + "…"
	}
	return &e
}
