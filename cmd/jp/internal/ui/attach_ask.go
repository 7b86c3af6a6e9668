package ui

import (
	"context"
	"errors"

	"jp/agent"
	"jp/cmd/jp/internal/terminal"
	"jp/process/attach"
	"jp/turnloop"
)

// An askedHere is a question that the person is asked.
type askedHere struct {
	inquiry attach.Inquiry
	end     context.CancelCauseFunc
	done    chan struct{}
	answer  turnloop.Answer
	command *turnloop.UserCommand // in the place of an answer
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
		for q.command == nil {
			if q.answer, q.err = a.person.Prompter.Ask(asking, question); !errors.Is(q.err, terminal.ErrInterrupted) {
				return
			}
			if q.command, q.err = a.menuAtQuestion(asking); q.err != nil {
				return
			}
		}
	}()
	return nil
}

// answered gives the person's answer to the process, and then shows the messages that came meanwhile.
func (a *attachment) answered(ctx context.Context) error {
	q := a.asking
	a.asking = nil
	q.end(nil)
	var err error
	switch {
	case errors.Is(q.err, turnloop.ErrElsewhere):
	case errors.Is(q.err, errOver): // a message in the inbox says why
	case q.err != nil, q.command != nil:
		err = a.command(q.command, q.err)
	default:
		err = a.say(&attach.Answer{
			Conversation: q.inquiry.Conversation, Seq: q.inquiry.Seq, Outcome: q.answer.Outcome, Value: q.answer.Value, Reason: q.answer.Reason,
			Arguments: q.answer.Arguments, Remember: q.answer.Remember,
		})
	}
	if err != nil {
		return err
	}
	a.printer.resume()
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
