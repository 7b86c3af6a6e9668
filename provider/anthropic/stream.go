package anthropic

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"jp/provider"
)

// errStopped says that nobody reads on.
var errStopped = errors.New("the reader stopped")

// Stream sends the request and yields the answer as it comes. Pings come out as
// chunks of kind ChunkKeepAlive; an answer that ends early fails with class
// disconnect.
func (p *Provider) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		err := p.ask(ctx, request, func(c provider.Chunk) bool { return yield(c, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(provider.Chunk{}, err)
		}
	}
}

// ask sends the request and reads the whole answer. Everything that it opens is
// closed when it returns.
func (p *Provider) ask(ctx context.Context, request *provider.Request, yield func(provider.Chunk) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.wrong != nil {
		return &provider.Error{Provider: API, Err: p.wrong}
	}
	body, err := encode(paramsOf(request, modelOf(request.Model), p.options))
	if err != nil {
		return &provider.Error{Provider: API, Class: provider.ClassInvalid, Err: err}
	}
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newWatch(p.options.IdleTimeout, cancel)
	defer w.close()
	response, err := p.send(bounded, w, body)
	if err == nil {
		err = read(response, newAnswer(len(request.Schema) > 0), yield)
	}
	switch {
	case err == nil || errors.Is(err, errStopped):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(bounded), errSilent):
		return w.timeout()
	}
	return p.failure(err)
}

// send sends the body and returns a response whose body is an answer.
func (p *Provider) send(ctx context.Context, w *watch, body []byte) (*http.Response, error) {
	var response *http.Response
	// The body goes out as it is; the SDK adds headers and nothing else.
	err := p.client.Post(ctx, "v1/messages", body, &response, option.WithMiddleware(w.guard), option.WithMiddleware(answered))
	return response, err
}

// read passes the events of a response on until the answer is whole.
func read(response *http.Response, a *answer, yield func(provider.Chunk) bool) error {
	events := ssestream.NewDecoder(response)
	for events.Next() {
		chunk, some, err := a.add(events.Event())
		if err != nil {
			return err
		}
		if some && !yield(chunk) {
			return errStopped
		}
		if some && chunk.Kind == provider.ChunkFinish {
			return nil
		}
	}
	if err := events.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
