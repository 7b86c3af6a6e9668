package google

import (
	"context"
	"errors"
	"io"
	"iter"

	"jp/provider"
)

// errSilence is why a request is ended for which nothing came.
var errSilence = errors.New("the server said nothing for too long")

// Stream sends the request and yields the answer as it comes.
func (p *Provider) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		stopped := false
		emit := func(chunks ...provider.Chunk) bool {
			for _, c := range chunks {
				if stopped = !yield(c, nil); stopped {
					return false
				}
			}
			return true
		}
		if err := p.ask(ctx, request, emit); err != nil && !stopped {
			yield(provider.Chunk{}, err)
		}
	}
}

// ask makes the request and emits the answer, until emit returns false.
func (p *Provider) ask(ctx context.Context, request *provider.Request, emit func(...provider.Chunk) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.options.Key == "" {
		return &provider.Error{Class: provider.ClassAuth, Provider: Name, Message: "no key is set"}
	}
	m := modelNamed(request.Model)
	body, err := encode(request, m, p.options)
	if err != nil {
		return &provider.Error{Class: provider.ClassInvalid, Provider: Name, Message: "the request is no JSON", Err: err}
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := newSilence(p.options.idleTimeout(), func() { cancel(errSilence) })
	x := &exchange{}
	defer x.close()
	s.begin()
	err = p.send(limited, x, request.Model, body)
	s.end()
	if err == nil {
		a := &answer{call: request.Ended + 1, data: structured(request, m)}
		err = a.read(newEvents(timedReader{x.answer, s}), s, emit)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(limited), errSilence):
		return &provider.Error{Class: provider.ClassTimeout, Provider: Name, Err: errSilence}
	}
	return p.failure(err, x)
}

// read emits the answer of a stream up to its end. A stream may end in any way
// once it has said why the answer did; before, every end is a failure.
func (a *answer) read(stream *events, s *silence, emit func(...provider.Chunk) bool) error {
	for {
		data, err := stream.next()
		if err != nil && a.finish == "" {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if err != nil {
			emit(a.end()...)
			return nil
		}
		chunks, err := a.add(data)
		if err != nil {
			return err
		}
		if len(chunks) == 0 {
			chunks = []provider.Chunk{{Kind: provider.ChunkKeepAlive}}
		}
		if !emit(chunks...) {
			return nil
		}
		if a.finish != "" {
			s.shorten()
		}
	}
}
