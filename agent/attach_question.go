package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/process/attach"
	"jp/tool"
	"jp/turnloop"
)

// Question is an inquiry of a process as a question to a person. It reads the subject of the inquiry from the
// conversation.
func Question(ctx context.Context, r *repo.Repo, i attach.Inquiry) (turnloop.Question, error) {
	head, err := r.Store.Head(ctx, i.Conversation)
	if err != nil {
		return turnloop.Question{}, err
	}
	var turn []*conversation.Event
	for e, err := range r.Store.Backward(ctx, head) {
		if err != nil {
			return turnloop.Question{}, repo.AboutConversation(err, i.Conversation)
		}
		turn = append(turn, e)
		if e.Type() == conversation.TypeTurnStart {
			break
		}
	}
	slices.Reverse(turn)
	return QuestionIn(turn, i)
}

// QuestionIn is an inquiry of a turn.
func QuestionIn(turn []*conversation.Event, i attach.Inquiry) (turnloop.Question, error) {
	ledger := conversation.LedgerOf(turn)
	inquiry := ledger.InquiryAt(i.Seq)
	if inquiry == nil {
		return turnloop.Question{}, fmt.Errorf("%s asks question %d, which is not on record", i.Conversation, i.Seq)
	}
	q := turnloop.QuestionAbout(ledger, inquiry)
	q.Subject, q.Warning, q.Detail = i.Subject, i.Warning, i.Detail
	q.Tool = &tool.Definition{
		Name: i.Tool, Exclusive: i.Exclusive, Command: i.Command,
		Argv:  i.Tool == "shell_run" && len(i.Command) == 0, // the only tool whose calls name their command
		Timed: len(i.Command) > 0 || i.LimitMS > 0, Timeout: time.Duration(i.LimitMS) * time.Millisecond,
	}
	return q, nil
}
