package google

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"google.golang.org/genai"
)

// maxRefusal bounds how much of a refusal is read.
const maxRefusal = 1 << 20

// An exchange is one request on its way. It stands between the SDK and the
// network: it keeps the stream of an answer for this package's own reader, and
// hands on refusals.
type exchange struct {
	network http.RoundTripper
	url     string        // that was asked
	header  http.Header   // of the response, once there is one
	status  int           // of the response, 0 before
	answer  io.ReadCloser // nil unless the request was accepted
}

// send posts the body and returns once the server has begun to answer, or has
// refused. The answer has to be closed.
func (p *Provider) send(ctx context.Context, x *exchange, model string, body []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey:      p.options.Key,
		Backend:     genai.BackendGeminiAPI,
		HTTPClient:  x.client(p.options.Client),
		HTTPOptions: genai.HTTPOptions{BaseURL: p.options.baseURL()},
	})
	if err != nil {
		return err
	}
	once := false
	config := &genai.GenerateContentConfig{
		// Who retries is decided elsewhere, and only there.
		AutomaticContinuation: &once,
		HTTPOptions: &genai.HTTPOptions{ExtrasRequestProvider: func(map[string]any) map[string]any {
			return asMap(fields)
		}},
	}
	for _, err := range client.Models.GenerateContentStream(ctx, model, nil, config) {
		if err != nil {
			return err
		}
	}
	if x.answer == nil {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func asMap(fields map[string]json.RawMessage) map[string]any {
	m := make(map[string]any, len(fields))
	for name, value := range fields {
		m[name] = value
	}
	return m
}

// client is the caller's with the exchange before its network. A limit for the
// whole answer would cut long ones off, and a redirect would take the key to
// another server.
func (x *exchange) client(base *http.Client) *http.Client {
	client := http.Client{}
	if base != nil {
		client = *base
	}
	x.network = client.Transport
	if x.network == nil {
		x.network = http.DefaultTransport
	}
	client.Transport, client.Timeout = x, 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// RoundTrip keeps the body of an answer back, and gives the SDK an empty one.
func (x *exchange) RoundTrip(request *http.Request) (*http.Response, error) {
	x.url = request.URL.String()
	response, err := x.network.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	x.header, x.status = response.Header, response.StatusCode
	if response.StatusCode/100 == 2 {
		x.answer, response.Body = response.Body, http.NoBody
		return response, nil
	}
	// A body that breaks off still tells more than none.
	refusal, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(firstOf(refusal)))
	return response, nil
}

// close ends what is left of the exchange.
func (x *exchange) close() {
	if x.answer != nil {
		_ = x.answer.Close()
	}
}

// firstOf is the first value of a list, or what is no list: refusals of streams
// come as either.
func firstOf(text []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return text
}
