package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"jp/provider"
)

// Why an exchange ends early, besides what the network says.
var (
	errIdle      = errors.New("the server was silent for too long")
	errLongEvent = errors.New("an event of the stream is too long")
)

// Limits of what is kept of a server's complaint, in bytes.
const (
	maxComplaint = 1 << 20
	maxMessage   = 2000
)

// broken is the error of an exchange that ended early.
func (x *exchange) broken(err error) error {
	if errors.Is(context.Cause(x.ctx), errIdle) {
		return x.options.failure(provider.Error{Class: provider.ClassTimeout, Err: errIdle})
	}
	if x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	return x.options.failure(provider.Error{Class: x.classOfTransport(err), Err: err})
}

// classOfTransport is the class of an error that no server sent. What fails
// before anything was sent is the fault of the request.
func (x *exchange) classOfTransport(err error) provider.Class {
	var network net.Error
	var certificate *tls.CertificateVerificationError
	var sent *url.Error
	switch {
	case errors.As(err, &network) && network.Timeout():
		return provider.ClassTimeout
	case errors.As(err, &certificate), errors.Is(err, errLongEvent):
		return provider.ClassInvalid
	case x.body == nil && !errors.As(err, &sent) && !errors.As(err, &network):
		return provider.ClassInvalid
	}
	return provider.ClassDisconnect
}

// refused is the error of a response with a status that says so.
func (o Options) refused(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxComplaint))
	if err != nil {
		body = nil
	}
	c := complaintIn(body)
	if c.Message == "" {
		c.Message = strings.TrimSpace(string(body))
	}
	return o.failure(provider.Error{
		Class: c.class(response.StatusCode), Status: response.StatusCode,
		Message: c.Message, RetryAfter: provider.RetryAfter(response.Header),
	})
}

// unstreamed is the error of an answer that is no stream of events.
func (x *exchange) unstreamed() error {
	text, err := io.ReadAll(io.LimitReader(x.events.in, maxComplaint))
	if err != nil {
		return x.broken(err)
	}
	if failure := x.options.reported(text); failure != nil {
		return failure
	}
	return x.options.failure(provider.Error{Class: provider.ClassInvalid, Message: "the server does not stream its answer"})
}

// reported is the error that an event reports, nil if it reports none.
func (o Options) reported(data []byte) error {
	var event struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if !bytes.Contains(data, []byte(`"error"`)) || json.Unmarshal(data, &event) != nil {
		return nil
	}
	if event.Type != "error" && (len(event.Error) == 0 || string(event.Error) == "null") {
		return nil
	}
	return o.complained(complaintIn(data))
}

// complained is the error of a complaint in the midst of an answer.
func (o Options) complained(c complaint) error {
	status, _ := strconv.Atoi(c.code())
	if status < http.StatusBadRequest || status > 599 {
		status = 0
	}
	return o.failure(provider.Error{Class: c.class(status), Status: status, Message: c.Message})
}

// located names the provider in an error that its reader has classed.
func (o Options) located(err error) error {
	var failure *provider.Error
	if errors.As(err, &failure) {
		return o.failure(*failure)
	}
	return o.failure(provider.Error{Class: provider.ClassDisconnect, Err: err})
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
