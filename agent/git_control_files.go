package agent

import (
	"context"
	"errors"

	"jp/agent/problem"
	"jp/internal/safetext"
	"jp/turnloop"
)

// review asks the person at the terminal whether the turn goes on though a tool changed
// files that git obeys. Where there is none it is nil, and the turn ends.
func (r *run) review() func(ctx context.Context, tool string, files []string) (bool, error) {
	u := r.user
	if u == nil {
		return nil
	}
	return func(ctx context.Context, tool string, files []string) (bool, error) {
		text := safetext.Show(tool) + " changed files that git obeys. Look at them before you use git here:\n"
		for _, name := range files {
			text += "  " + safetext.Show(name) + "\n"
		}
		key, err := u.Decide(ctx, UserDecision{Text: text, Choices: []UserChoice{{'n', "no, stop the turn here"}, {'y', "yes, go on"}}})
		switch {
		case errors.Is(err, ErrUserGone):
			return false, &turnloop.Interrupt{Signal: "SIGHUP"}
		case errors.Is(err, ErrUserLeft):
			return false, problem.New(problem.ExitInterrupted, "interrupted", "nothing was approved.")
		case errors.Is(err, ErrUserSilent):
			return false, nil
		}
		return key == 'y', err
	}
}

// stoppedByObeyed is the end of a turn whose tool changed files that git obeys.
func (t *target) stoppedByObeyed(e *turnloop.ObeyedError) *problem.Error {
	f := problem.New(problem.ExitDecision, "incomplete_turn", "the turn stopped: %s changed files that git obeys.", safetext.Show(e.Tool)).About(t.id)
	for _, name := range e.Files {
		f.Details = append(f.Details, safetext.Show(name))
	}
	f.Details = append(f.Details, "Look at these files before you use git here. The result of the tool is recorded.")
	return f.Hint("jp continue "+t.id.Short(), "go on with the turn").Hint("jp discard "+t.id.Short(), "give the turn up; the files stay as they are")
}
