package agent

import (
	"context"
	"errors"

	"jp/agent/problem"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// review asks the person at the terminal whether the turn goes on though a tool changed files that git obeys.
// Without a person it is nil, and the turn ends.
func (r *run) review() func(ctx context.Context, changed *turnloop.ControlFilesError) (bool, error) {
	u := r.res.user
	if u == nil {
		return nil
	}
	return func(ctx context.Context, changed *turnloop.ControlFilesError) (bool, error) {
		text := safetext.Show(changed.Tool) + " changed files that git obeys. Look at them before you use git here:\n"
		if changed.Since {
			text = "Files that git obeys changed since " + safetext.Show(changed.Tool) + " started. Look at them before you use git here:\n"
		}
		for _, name := range changed.Files {
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

// tellControlFiles tells the user, before a turn is discarded, which files that git obeys
// changed while its last tool ran, if an earlier jp ended before it could.
func (i *resumption) tellControlFiles(ctx context.Context) error {
	files, err := i.history.filesOfTurn(ctx)
	if err != nil || files == nil {
		return err
	}
	tools, err := i.turn.namedTools()
	if err != nil {
		tools = new(tool.Registry)
	}
	changed, err := turnloop.UnseenControl(ctx, i.history.stream, turnloop.Options{Tools: turnloop.ToolOptions{Registry: tools}, Files: turnloop.FileOptions{Workspace: files}})
	if err != nil || changed == nil {
		return err
	}
	text := "Files that git obeys changed since " + safetext.Show(changed.Tool) + " started. Look at them before you use git here:"
	for _, name := range changed.Files {
		text += "\n  " + safetext.Show(name)
	}
	i.run.env.Note("%s", text)
	return nil
}

// stoppedByControlFiles is the end of a turn whose tool changed files that steer git.
func (t *target) stoppedByControlFiles(e *turnloop.ControlFilesError) *problem.Error {
	f := problem.New(problem.ExitDecision, "incomplete_turn", "the turn stopped: %s changed files that git obeys.", safetext.Show(e.Tool)).About(t.id)
	if e.Since {
		f.Message = "the turn stopped: files that git obeys changed since " + safetext.Show(e.Tool) + " started."
	}
	for _, name := range e.Files {
		f.Details = append(f.Details, safetext.Show(name))
	}
	look := "Look at these files before you use git here."
	if !e.Since {
		look += " The result of the tool is recorded."
	}
	f.Details = append(f.Details, look)
	return f.Hint(action.Continue(t.id.Short()), "go on with the turn").Hint(action.Discard(t.id.Short()), "give the turn up; the files stay as they are")
}
