package agent

import (
	"context"
	"errors"

	"jp/agent/problem"
	"jp/agent/resume"
	"jp/conversation"
	"jp/internal/action"
	"jp/reconcile"
)

// allowPlace refuses to resume a turn in another place than its own, unless the user allows it. last is HEAD
// at the end of the turn, and changed counts the files that moved since.
func (i *resumption) allowPlace(ctx context.Context, last conversation.Git, differences []reconcile.Difference, changed int) error {
	if len(differences) == 0 || i.run.opts.Resume.Anyway {
		return nil
	}
	if i.res.user == nil {
		return i.target.elsewhereFailure(ctx, last, differences)
	}
	key, err := i.turn.decide(ctx, UserDecision{
		Text:    resume.ElsewhereText(i.run.repo, differences, changed),
		Choices: []UserChoice{{'r', "resume here anyway (the model is told)"}, {'q', "quit, change nothing"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return i.target.leftAlone()
	case err != nil && !errors.Is(err, ErrUserSilent):
		return i.target.choiceError(err)
	case key == 'r':
		return nil
	}
	return i.target.keepText(i.target.elsewhereFailure(ctx, last, differences))
}

func (t *target) elsewhereFailure(ctx context.Context, last conversation.Git, differences []reconcile.Difference) *problem.Error {
	f := problem.New(problem.ExitDecision, "elsewhere", "%s stopped elsewhere: %s.", t.id, resume.DifferenceWords(t.run.repo, differences)).About(t.id)
	f.Hints = resume.WayBack(ctx, t.run.repo, last, differences)
	return f.Hint(action.ResumeHere(string(t.id)), "go on here; the model is told")
}
