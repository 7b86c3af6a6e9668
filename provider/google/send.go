package google

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"jp/provider"
)

// maxRefusal bounds how much of a refusal is read.
const maxRefusal = 1 << 20

const version = "v1beta"

// An exchange is one request on its way.
type exchange struct {
	url    string        // that was asked
	header http.Header   // of the response, once there is one
	status int           // of the response, 0 before
	answer io.ReadCloser // nil unless the request was accepted
}

// send posts the body and returns once the server has begun to answer, or has
// refused. The answer has to be closed.
func (p *Provider) send(ctx context.Context, x *exchange, model string, body provider.EncodedBody) error {
	name, err := modelPath(model)
	if err != nil {
		return err
	}
	client := p.client()
	client.Timeout = 0 // it would cut long answers off
	return p.exchange(ctx, x, client, http.MethodPost, name+":streamGenerateContent", "alt=sse", body)
}

// modelPath is a model's place in the API.
func modelPath(model string) (string, error) {
	switch {
	case model == "", strings.ContainsAny(model, "?&"), strings.Contains(model, ".."):
		return "", &provider.Error{Class: provider.ClassInvalid, Message: fmt.Sprintf("invalid model name %q", model)}
	case strings.HasPrefix(model, "models/"), strings.HasPrefix(model, "tunedModels/"):
		return model, nil
	}
	return "models/" + model, nil
}

// exchange sends a request. If the server does not accept it, the error is a refusal.
func (p *Provider) exchange(ctx context.Context, x *exchange, client *http.Client, method, path, query string, body provider.EncodedBody) error {
	address, err := url.Parse(p.options.baseURL())
	if err != nil {
		return err
	}
	address = address.JoinPath(version, path)
	address.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return err
	}
	if body.Len() > 0 {
		body.SetOf(request)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "jp")
	if p.options.Bearer {
		request.Header.Set("Authorization", "Bearer "+p.options.Key)
	} else {
		request.Header.Set("X-Goog-Api-Key", p.options.Key)
	}
	x.url = address.String()
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	x.header, x.status = response.Header, response.StatusCode
	if response.StatusCode/100 == 2 {
		x.answer = response.Body
		return nil
	}
	defer response.Body.Close()
	// A truncated body still tells more than none.
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	return refusalOf(response, firstOf(text))
}

// client is a copy of the caller's that follows no redirect, since it would take the key to another server.
func (p *Provider) client() *http.Client {
	client := http.Client{}
	if p.options.Client != nil {
		client = *p.options.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func (x *exchange) close() {
	if x.answer != nil {
		_ = x.answer.Close()
	}
}

// A refusal is a server's error in the place of an answer.
type refusal struct {
	Code    int
	Message string
	Status  string
	Type    string // of gateways
	Details []map[string]any
}

func (r refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Code, r.Status, r.Message) }

// refusalOf reads a refusal. Any other text becomes its message.
func refusalOf(response *http.Response, text []byte) refusal {
	var known struct{ Error *refusal }
	if json.Unmarshal(text, &known) == nil && known.Error != nil {
		return *known.Error
	}
	return refusal{Code: response.StatusCode, Status: response.Status, Message: string(text)}
}

// firstOf is the first element of a list, or any other value itself: refusals of streams come as either.
func firstOf(text []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return text
}
