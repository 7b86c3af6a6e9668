package live

import (
	"context"
	"errors"

	"jp/conversation"
	"jp/process/attach"
	"jp/turnloop"
)

// A Delegate is the presence of a delegate: it asks as its parent does. It keeps a command that a user gives
// in place of an answer: the question comes in the middle of the parent's turn, and the command is meant for
// that.
type Delegate struct {
	questions *questions
	told      activityTeller
	Command   *turnloop.UserCommand // of the user, at a question, or nil
}

// Delegate is the presence of a delegate of the run.
func (p *Presence) Delegate(id conversation.ID) *Delegate {
	return &Delegate{questions: p.questions, told: activityTeller{id, p.options.Env.Now}}
}

// Relay is an observer that informs the peers of the parent before it passes an event on.
func (d *Delegate) Relay(o turnloop.Observer) turnloop.Observer {
	return &childRelay{o, d.questions.server, d.told}
}

// Ask implements [turnloop.Prompter].
func (d *Delegate) Ask(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	answer, err := d.questions.put(ctx, d.told.id, question, false)
	errors.As(err, &d.Command)
	return answer, err
}

// Await implements [turnloop.Prompter].
func (d *Delegate) Await(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	answer, err := d.questions.await(ctx, d.told.id, question)
	errors.As(err, &d.Command)
	return answer, err
}

// Present implements [turnloop.Prompter].
func (d *Delegate) Present() bool { return d.questions.Present() }

// A childRelay informs the peers of a parent about the outcome of its child's questions, and of the child's
// tools.
type childRelay struct {
	turnloop.Observer
	server *attach.Server
	told   activityTeller
}

// Working implements [turnloop.Observer].
func (r *childRelay) Working(a turnloop.Activity) {
	r.told.send(r.server, a)
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
