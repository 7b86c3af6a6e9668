package agent

import (
	"context"
	"errors"

	"jp/agent/action"
	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/conversation"
	"jp/reconcile"
)

// allowPlace refuses to go on somewhere else than where the turn stopped,
// unless the user says so. last is where HEAD was at the end, and changed how many files
// moved since.
func (i *incomplete) allowPlace(ctx context.Context, last conversation.Git, differences []reconcile.Difference, changed int) error {
	if len(differences) == 0 || i.opts.Anyway {
		return nil
	}
	if i.user == nil {
		return i.elsewhereFailure(ctx, last, differences)
	}
	key, err := i.decide(ctx, UserDecision{
		Text:    interrupted.ElsewhereText(i.repo, differences, changed),
		Choices: []UserChoice{{'r', "resume here anyway (the model is told)"}, {'q', "quit, change nothing"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return i.leftAlone()
	case err != nil && !errors.Is(err, ErrUserSilent):
		return i.choiceError(err)
	case key == 'r':
		return nil
	}
	return i.keepText(i.elsewhereFailure(ctx, last, differences))
}

func (t *target) elsewhereFailure(ctx context.Context, last conversation.Git, differences []reconcile.Difference) *problem.Error {
	f := problem.New(problem.ExitDecision, "elsewhere", "%s stopped elsewhere: %s.", t.id, interrupted.DifferenceWords(t.repo, differences)).About(t.id)
	f.Hints = interrupted.WayBack(ctx, t.repo, last, differences)
	return f.Hint(action.ResumeHere(string(t.id)), "go on here; the model is told")
}
