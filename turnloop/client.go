package turnloop

import (
	"context"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/provider"
)

// A modelClient builds requests to the model from the events of a conversation, and lets
// the model answer questions of tools.
type modelClient struct {
	opts          *Options
	stream        *conversation.Stream
	stateRejected bool // the provider rejected its own opaque state
}

// options choose the model and the opaque state that it may get back.
func (m *modelClient) options() provider.Options {
	return provider.Options{Model: m.opts.Model.Name, API: m.opts.Model.API, Endpoint: m.opts.Model.Endpoint, Account: m.opts.Model.Account, NoState: m.stateRejected}
}

// request is the request that goes on with the newest turn.
func (m *modelClient) request(ctx context.Context) (*provider.Request, error) {
	options := m.options()
	options.Content, options.Schema, options.NoTools = m.content(ctx), schemaOf(m.stream), schemaNotified(m.stream)
	options.Known = m.opts.Model.Known
	return provider.Build(m.stream.Events(), options)
}

// makeRoom records the compactions for the next request, and reports whether there were any.
func (m *modelClient) makeRoom(ctx context.Context, refused error, asking func(context.Context) (context.Context, func()), record func([]conversation.Body) error) (bool, error) {
	if m.opts.Model.MakeRoom == nil {
		return false, nil
	}
	options := m.options()
	options.Content, options.Known = m.content(ctx), m.opts.Model.Known
	bodies, err := m.opts.Model.MakeRoom(ctx, Room{Events: m.stream.Events(), Request: options, Refused: refused, Asking: asking})
	if err != nil || len(bodies) == 0 {
		return false, err
	}
	return true, record(bodies)
}

// refusesLength reports whether a server refused a request that is longer than its model can read.
func refusesLength(err error) bool {
	var refused *provider.Error
	return errors.As(err, &refused) && refused.Class == provider.ClassContext
}

// content reads payload for a request.
func (m *modelClient) content(ctx context.Context) func(conversation.Payload) ([]byte, bool) {
	return func(p conversation.Payload) ([]byte, bool) {
		data, ok, err := m.opts.Conversation.Journal.Payload(ctx, p)
		if !ok && p.Name == conversation.PayloadTools {
			// Equal hashes mean equal texts, of any source.
			if text, sum, err := toolsText(m.opts.Tools.Registry); err == nil && sum == p.SHA256 {
				return text, true
			}
		}
		return data, ok && err == nil
	}
}

// withoutState reports whether to ask the model again without the opaque state of earlier answers, because
// its provider rejected it.
func (m *modelClient) withoutState(err error) bool {
	var refused *provider.Error
	if m.stateRejected || !errors.As(err, &refused) || refused.Class != provider.ClassState {
		return false
	}
	m.stateRejected = true
	m.opts.Observer.Noticed(fmt.Sprintf("%v; asking again without the reasoning of earlier answers", err))
	return true
}
