package live

import (
	"context"
	"errors"

	"jp/conversation"
	"jp/process/attach"
	"jp/turnloop"
)

// A Delegate is how others see a delegate: it asks where its parent does. A command that
// a user gives in the place of an answer is kept: the question is asked in the
// middle of the parent's turn, and the command is meant for that.
type Delegate struct {
	questions *questions
	told      activityTeller
	Command   *turnloop.UserCommand // of the user, at a question, or nil
}

// Delegate is the presence of a delegate of the run.
func (p *Presence) Delegate(id conversation.ID) *Delegate {
	return &Delegate{questions: p.questions, told: activityTeller{id, p.options.Env.Now}}
}

// Relay is an observer that tells the peers of the parent what happens before another one shows it.
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

// A childRelay tells the peers of a parent what becomes of its child's questions,
// and what the child's tools come to.
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
