package ui

import (
	"context"
	"errors"
	"fmt"

	"jp/agent"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
	"jp/process/attach"
	"jp/turnloop"
)

// An askedHere is a question that the person is asked.
type askedHere struct {
	inquiry attach.Inquiry
	end     context.CancelCauseFunc
	done    chan struct{}
	answer  turnloop.Answer
	err     error
}

// ask asks the person. Messages of the process wait meanwhile.
func (a *attachment) ask(ctx context.Context, i attach.Inquiry) error {
	question, err := a.question(ctx, i)
	if err != nil {
		return err
	}
	a.printer.pause()
	if i.Conversation != a.id {
		a.noticed(i.Conversation.Short() + ", which works for this conversation, asks:")
	}
	asking, end := context.WithCancelCause(ctx)
	q := &askedHere{inquiry: i, end: end, done: make(chan struct{})}
	a.asking = q
	a.person.front.notify.tell(waitsForYou)
	go func() {
		defer close(q.done)
		defer a.person.front.notify.acted()
		q.answer, q.err = a.person.Prompter.Ask(asking, question)
	}()
	return nil
}

// An elsewhereError is the answer that another user gave to a question.
type elsewhereError struct{ words string }

// Error gives the answer.
func (e *elsewhereError) Error() string { return e.words }

// answered gives the person's answer to the process, and then shows the messages that came meanwhile.
func (a *attachment) answered(ctx context.Context) error {
	q := a.asking
	a.asking = nil
	q.end(nil)
	var elsewhere *elsewhereError
	var err error
	switch {
	case errors.As(q.err, &elsewhere):
		fmt.Fprintf(a.person.tty, "%s, elsewhere\n", safetext.Clean(elsewhere.words))
	case errors.Is(q.err, errOver): // a message in the inbox says why
	case errors.Is(q.err, terminal.ErrLeft):
		return errLeave
	case errors.Is(q.err, terminal.ErrInterrupted):
		err = a.menuAtQuestion(ctx, q.inquiry)
	case q.err != nil:
		return q.err
	default:
		err = a.say(&attach.Answer{
			Conversation: q.inquiry.Conversation, Seq: q.inquiry.Seq, Outcome: q.answer.Outcome, Value: q.answer.Value, Reason: q.answer.Reason,
			Arguments: q.answer.Arguments, Remember: q.answer.Remember,
		})
	}
	if err != nil {
		return err
	}
	if a.asking == nil {
		a.printer.resume()
	}
	later := a.later
	a.later = nil
	for i, u := range later {
		if a.asking != nil {
			a.later = append(a.later, later[i:]...)
			break
		}
		if err := a.take(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// question is an inquiry as a person is asked it.
func (a *attachment) question(ctx context.Context, i attach.Inquiry) (turnloop.Question, error) {
	if i.Conversation != a.id {
		return agent.Question(ctx, a.repo, i)
	}
	return agent.QuestionIn(a.turn, i)
}
