package agent

import (
	"context"
	"errors"
	"os"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
	"jp/turnloop"
)

// doTransient runs an unrecorded turn behind the recorded ones. It takes no lock, so that it can run while
// another process works in the conversation, and leaves out an incomplete turn.
func (r *run) doTransient(ctx context.Context) (err error) {
	t, drafted := newTarget(r, ""), ""
	var outcome turnloop.Outcome
	defer func() {
		err = t.transientError(err, drafted)
		r.out.Ended(t.ending(context.WithoutCancel(ctx), outcome, err))
	}()
	if err := t.find(ctx); err != nil {
		return err
	}
	if r.repo.Values != nil {
		r.repo.Values.Still = true
	}
	l, err := t.load(ctx)
	if err != nil {
		return err
	}
	e := newTurn(l)
	e.delegates = children{e}
	s := newQuestion(e)
	defer func() {
		outcome, drafted = e.outcome, s.drafted
		e.close(err)
		t.res.close()
	}()
	loop, err := e.prepare(ctx, nil, nil)
	if err != nil {
		return err
	}
	request, err := s.request(ctx)
	if err != nil {
		return err
	}
	e.outcome, err = loop.Start(ctx, request)
	return e.verdict(context.WithoutCancel(ctx), err)
}

// transientError is the error of a turn that cannot be resumed. It keeps the text that the user wrote in an
// editor.
func (t *target) transientError(err error, drafted string) error {
	if err == nil {
		return nil
	}
	f := repo.ProblemOf(err)
	f.Message = strings.Replace(f.Message, repo.QuestionKept, "Nothing is recorded.", 1)
	if f.Conversation == t.id {
		f.Conversation = t.known()
	}
	if path := keepApart(drafted); path != "" {
		f.Details = append(f.Details, "What you wrote is in "+path+".")
	}
	var hints []problem.Hint
	for _, h := range f.Hints {
		h.Action = h.Action.Unrecorded()
		if !h.Action.NeedsTurn() && !strings.Contains(h.Text, action.ContinueSession.String()) {
			hints = append(hints, h)
		}
	}
	f.Hints = hints
	return f
}

// keepApart writes a text into a temporary file that stays, and names it, "" for an empty text.
func keepApart(text string) string {
	if text == "" {
		return ""
	}
	f, err := os.CreateTemp("", "jp-*.md")
	if err != nil {
		return ""
	}
	_, err = f.WriteString(text + "\n")
	if errors.Join(err, f.Close()) != nil {
		return ""
	}
	return f.Name()
}
