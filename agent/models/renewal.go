package models

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"jp/agent/problem"
	"jp/provider"
)

// A renewal sends the requests of a client with the key of now. The client was made with the key of then. If
// the server refuses the key, it sends the request once more with a new one, and the same bytes.
type renewal struct {
	next   http.RoundTripper
	key    keySource
	vendor string
	opened string           // the key that the client knows
	secret func(key string) // is told of each key
}

// renewing is a client whose requests have the key of now.
func renewing(client *http.Client, r renewal) *http.Client {
	c := http.Client{}
	if client != nil {
		c = *client
	}
	if r.next = c.Transport; r.next == nil {
		r.next = http.DefaultTransport
	}
	c.Transport = r
	return &c
}

// RoundTrip implements [http.RoundTripper].
func (r renewal) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	var body []byte
	if request.Body != nil {
		text, err := io.ReadAll(request.Body)
		_ = request.Body.Close()
		if err != nil {
			return nil, err
		}
		body = text
	}
	key, runs, err := r.key.current(ctx)
	if err != nil {
		return nil, r.failure(err)
	}
	response, refused, err := r.send(request, body, key)
	if err != nil || !refused {
		return response, err
	}
	key, _, err = r.key.renewed(ctx, runs)
	if errors.Is(err, errSameKey) {
		return response, nil
	}
	if err != nil {
		return nil, r.failure(err)
	}
	response, _, err = r.send(request, body, key)
	return response, err
}

// mostRefused bounds how much of a refusal is read, in bytes.
const mostRefused = 1 << 20

// send sends a request with a key, and reports whether the server refused the key.
func (r renewal) send(request *http.Request, body []byte, key string) (response *http.Response, refused bool, err error) {
	r.secret(key)
	request = request.Clone(request.Context())
	if body != nil {
		request.Body = io.NopCloser(bytes.NewReader(body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	for name, values := range request.Header {
		for i, value := range values {
			if head, found := strings.CutSuffix(value, r.opened); found && secretHeader(name) && (head == "" || head == "Bearer ") {
				request.Header[name][i] = head + key
			}
		}
	}
	response, err = r.next.RoundTrip(request)
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return response, false, err
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, mostRefused)) // a part of the words is better than none
	_ = response.Body.Close()
	if key != r.opened { // the client hides only the key that it knows
		text = []byte(provider.Masked(string(text), key))
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, provider.RefusesCredential(response.StatusCode, response.Header, text), nil
}

// failure is the reason for the missing key, as an error that clients do not retry.
func (r renewal) failure(err error) error {
	var f *problem.Error
	if !errors.As(err, &f) {
		return err
	}
	words := strings.TrimPrefix(f.Message, noKeyFor(r.vendor))
	if len(f.Details) > 0 {
		words += " It said: " + strings.Join(f.Details, " ")
	}
	return &provider.Error{Class: provider.ClassAuth, Message: words}
}
