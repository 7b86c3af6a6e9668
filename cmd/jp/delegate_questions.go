package main

import (
	"context"
	"errors"

	"jp/turnloop"
)

// A childDesk puts a child's questions where its parent's are put. It keeps the
// command that somebody gives in the place of an answer: the question is asked
// in the middle of the parent's turn, and the command is meant for that.
type childDesk struct {
	turnloop.Prompter
	command **turnloop.Command
}

// askThrough puts the questions of a child at its parent's desk.
func (q *query) askThrough(desk turnloop.Prompter) turnloop.Prompter {
	return childDesk{desk, &q.command}
}

// Ask implements [turnloop.Prompter].
func (d childDesk) Ask(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	answer, err := d.Prompter.Ask(ctx, question)
	errors.As(err, d.command)
	return answer, err
}

// Await implements [turnloop.Prompter].
func (d childDesk) Await(ctx context.Context, question turnloop.Question) (turnloop.Answer, error) {
	answer, err := d.Prompter.Await(ctx, question)
	errors.As(err, d.command)
	return answer, err
}
