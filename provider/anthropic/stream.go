package anthropic

import (
	"context"
	"iter"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"jp/provider"
)

// Stream sends the request and yields the answer as it comes. Pings come out as
// chunks of kind ChunkKeepAlive; an answer that ends early fails with class
// disconnect.
func (p *Provider) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if err := p.ask(ctx, request, func(c provider.Chunk) bool { return yield(c, nil) }); err != nil {
			yield(provider.Chunk{}, err)
		}
	}
}

// ask sends the request and reads the whole answer, or until yield returns false.
// Everything that it opens is closed when it returns.
func (p *Provider) ask(ctx context.Context, request *provider.Request, yield func(provider.Chunk) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.wrong != nil {
		return &provider.Error{Provider: API, Err: p.wrong}
	}
	body, err := body(paramsOf(request, modelOf(request.Model), p.options, provider.EncodedOf[contents](request.Encoded)), provider.EncodedOf[provider.EncodedLists[sdk.MessageParam]](request.Encoded))
	if err != nil {
		return &provider.Error{Provider: API, Class: provider.ClassInvalid, Err: err}
	}
	w, watched := provider.NewStreamWatch(ctx, provider.StreamLimits{Silence: p.options.IdleTimeout, Stall: p.options.Stall})
	defer w.Close()
	waited := w.Wait()
	response, err := p.send(watched, body)
	waited()
	if err == nil {
		defer response.Body.Close()
		err = provider.ReceiveStream(ctx, w, response.Body, newAnswer(len(request.Schema) > 0), yield)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case w.Timeout() != nil:
		return p.failure(w.Timeout())
	}
	return p.failure(err)
}

// send sends the body and returns a response whose body is an answer.
func (p *Provider) send(ctx context.Context, body provider.EncodedBody) (*http.Response, error) {
	var response *http.Response
	whole := func(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		body.SetOf(request) // the SDK cannot know the length of a reader
		return next(request)
	}
	// The body goes out as it is. The SDK only adds headers.
	err := p.client.Post(ctx, "v1/messages", body.Reader(), &response, option.WithMiddleware(answered, whole))
	return response, err
}
