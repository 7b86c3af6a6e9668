package agent

import (
	"context"
	"errors"

	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/conversation"
	"jp/reconcile"
)

// allowPlace refuses to go on somewhere else than where the turn stopped,
// unless the user says so. last is where HEAD was at the end, and changed how many files
// moved since.
func (q *query) allowPlace(ctx context.Context, last conversation.Git, differences []reconcile.Difference, changed int) error {
	if len(differences) == 0 || q.opts.Anyway {
		return nil
	}
	if q.user == nil {
		return q.elsewhereFailure(ctx, last, differences)
	}
	key, err := q.user.Decide(ctx, UserDecision{
		Text:    interrupted.ElsewhereText(q.repo, differences, changed),
		Choices: []UserChoice{{'r', "resume here anyway (the model is told)"}, {'q', "quit, change nothing"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return q.leftAlone()
	case err != nil && !errors.Is(err, ErrUserSilent):
		return q.choiceError(err)
	case key == 'r':
		return nil
	}
	return q.keepText(q.elsewhereFailure(ctx, last, differences))
}

// leftAlone is how Ctrl+C ends a question about an incomplete turn.
func (q *query) leftAlone() *problem.Error {
	return problem.Unchanged(problem.ExitInterrupted, "interrupted").About(q.id)
}

func (q *query) elsewhereFailure(ctx context.Context, last conversation.Git, differences []reconcile.Difference) *problem.Error {
	f := problem.New(problem.ExitDecision, "elsewhere", "%s stopped elsewhere: %s.", q.id, interrupted.DifferenceWords(q.repo, differences)).About(q.id)
	f.Hints = interrupted.WayBack(ctx, q.repo, last, differences)
	return f.Hint("jp query --continue-turn --anyway --id="+string(q.id), "go on here; the model is told")
}
