package agent

import (
	"context"
	"errors"

	"jp/conversation"
	"jp/process/attach"
	"jp/turnloop"
)

// A childDesk puts a child's questions at its parent's desk. A command that
// somebody gives in the place of an answer is kept: the question is asked in the
// middle of the parent's turn, and the command is meant for that.
type childDesk struct {
	*desk
	child *query
}

// Ask implements [turnloop.Prompter].
func (d childDesk) Ask(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	answer, err := d.put(ctx, d.child.id, question, false)
	errors.As(err, &d.child.command)
	return answer, err
}

// Await implements [turnloop.Prompter].
func (d childDesk) Await(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	answer, err := d.await(ctx, d.child.id, question)
	errors.As(err, &d.child.command)
	return answer, err
}

// A childRelay tells the peers of a parent what becomes of its child's questions,
// and what the child's tools come to.
type childRelay struct {
	turnloop.Observer
	server *attach.Server
	told   activityTeller
}

// Working implements [turnloop.Observer].
func (r *childRelay) Working(a turnloop.Activity) {
	r.told.tell(r.server, a)
	r.Observer.Working(a)
}

// Recorded implements [turnloop.Observer].
func (r *childRelay) Recorded(events []*conversation.Event) {
	r.server.RecordedBy(r.told.id, events)
	for _, e := range events {
		if e.Type() == conversation.TypeToolCallResponse {
			r.server.Noticed(r.told.id.Short() + " · " + e.Subject)
		}
	}
	r.Observer.Recorded(events)
}

// Noticed implements [turnloop.Observer].
func (r *childRelay) Noticed(text string) {
	r.server.Noticed(text)
	r.Observer.Noticed(text)
}
