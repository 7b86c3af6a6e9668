package openai

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"jp/provider"
	"jp/provider/stream"
)

// stream sends a body and yields the chunks of the answer that a reader makes.
func (o Options) stream(ctx context.Context, path string, body func() ([]byte, error), r stream.Reader) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		w, watched := stream.NewWatch(ctx, stream.Limits{Silence: o.idleTimeout(), Stall: o.stall()})
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
			err = stream.Receive(ctx, w, response.Body, r, func(c provider.Chunk) bool { return yield(c, nil) })
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
func (o Options) send(ctx context.Context, path string, body []byte) (*http.Response, error) {
	if !isAddress(o.baseURL()) {
		return nil, &provider.Error{Class: provider.ClassInvalid, Message: "the base URL is invalid"}
	}
	var response *http.Response
	client := sdk.Client{Options: o.requestOptions()}
	err := client.Post(ctx, path, body, &response, option.WithHeader("Accept", "text/event-stream"))
	switch {
	case response != nil && response.StatusCode/100 == 3:
		_ = response.Body.Close()
		return nil, &provider.Error{Class: provider.ClassInvalid, Status: response.StatusCode, Message: "the server answers elsewhere, or not at all"}
	case response != nil && response.StatusCode >= http.StatusBadRequest:
		defer response.Body.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, o.refused(response)
	case err != nil:
		return nil, err
	}
	return response, nil
}

// isAddress keeps a mistyped address, with whatever secret it holds, out of the
// errors of those who parse it.
func isAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// requestOptions are all that the SDK goes by: a client made by its constructor
// would send what it finds in the environment to any endpoint.
func (o Options) requestOptions() []option.RequestOption {
	client := o.Client
	if client == nil {
		client = http.DefaultClient
	}
	options := []option.RequestOption{
		option.WithBaseURL(o.baseURL()), option.WithHTTPClient(client), option.WithMaxRetries(0),
	}
	switch header := o.Dialect.KeyHeader; {
	case o.Key == "":
	case header != "":
		options = append(options, option.WithHeader(header, o.Key))
	default:
		options = append(options, option.WithAPIKey(o.Key))
	}
	return options
}
