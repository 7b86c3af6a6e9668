package openai

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"jp/provider"
)

// stream sends a body and yields the chunks of the answer that a reader makes.
func (o Options) stream(ctx context.Context, path string, body func() (provider.EncodedBody, error), r provider.StreamReader) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		w, watched := provider.NewStreamWatch(ctx, provider.StreamLimits{Silence: o.idleTimeout(), Stall: o.stall()})
		defer w.Close()
		waited := w.Wait()
		var response *http.Response
		data, err := body()
		if err == nil {
			response, err = o.send(watched, path, data)
		}
		waited()
		if err == nil {
			defer response.Body.Close()
			err = provider.ReceiveStream(ctx, w, response.Body, r, func(c provider.Chunk) bool { return yield(c, nil) })
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			yield(provider.Chunk{}, ctx.Err())
		case w.Timeout() != nil:
			yield(provider.Chunk{}, o.broken(w.Timeout(), true))
		default:
			yield(provider.Chunk{}, o.broken(err, response != nil))
		}
	}
}

// send sends the body and waits for the answer to begin.
func (o Options) send(ctx context.Context, path string, body provider.EncodedBody) (*http.Response, error) {
	response, err := o.do(ctx, http.MethodPost, path, "text/event-stream", body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode/100 == 3:
		_ = response.Body.Close()
		return nil, &provider.Error{Class: provider.ClassInvalid, Status: response.StatusCode, Message: "the server answers elsewhere, or not at all"}
	case response.StatusCode >= http.StatusBadRequest:
		defer response.Body.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, o.refused(response)
	}
	return response, nil
}

// do sends a request to a path below the base URL.
func (o Options) do(ctx context.Context, method, path, accept string, body provider.EncodedBody) (*http.Response, error) {
	if !isAddress(o.baseURL()) {
		return nil, &provider.Error{Class: provider.ClassInvalid, Message: "the base URL is invalid"}
	}
	address, err := url.Parse(o.baseURL())
	if err != nil {
		return nil, err
	}
	address = address.JoinPath(path)
	address.RawQuery, address.Fragment = "", "" // the query of a base URL is the client's
	request, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return nil, err
	}
	if body.Len() > 0 {
		body.SetOf(request)
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("User-Agent", "jp")
	switch header := o.Dialect.KeyHeader; {
	case o.Key == "":
	case header != "":
		request.Header.Set(header, o.Key)
	default:
		request.Header.Set("Authorization", "Bearer "+o.Key)
	}
	client := o.Client
	if client == nil {
		client = http.DefaultClient
	}
	return client.Do(request)
}

// isAddress reports a valid address. The check keeps a mistyped one, with its possible secrets, out of the
// errors of parsers.
func isAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}
