package google

import (
	"context"
	"iter"

	"jp/provider"
)

// Stream sends the request and yields the answer as it comes.
func (p *Provider) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if err := p.ask(ctx, request, func(c provider.Chunk) bool { return yield(c, nil) }); err != nil {
			yield(provider.Chunk{}, err)
		}
	}
}

// ask makes the request and yields the answer, until yield returns false.
func (p *Provider) ask(ctx context.Context, request *provider.Request, yield func(provider.Chunk) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.options.Key == "" {
		return &provider.Error{Class: provider.ClassAuth, Provider: Name, Message: "no key is set"}
	}
	m := modelNamed(request.Model)
	body, err := encode(request, m, p.options, provider.EncodedOf[provider.EncodedLists[content]](request.Encoded))
	if err != nil {
		return &provider.Error{Class: provider.ClassInvalid, Provider: Name, Message: "the request is not JSON", Err: err}
	}
	w, watched := provider.NewStreamWatch(ctx, p.options.limits())
	defer w.Close()
	x := &exchange{}
	defer x.close()
	waited := w.Wait()
	err = p.send(watched, x, request.Model, body)
	waited()
	if err == nil {
		err = provider.ReceiveStream(ctx, w, x.answer, &answer{call: request.Ended + 1, data: structured(request, m)}, yield)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case w.Timeout() != nil:
		err = w.Timeout()
	}
	return p.failure(err, x)
}
