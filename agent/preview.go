package agent

import (
	"context"

	"jp/agent/repo"
	"jp/agent/toolset"
)

// Preview describes the request of a turn, and its cost. It only reads: the model, hooks and records stay out
// of it. It decides as without a person.
func Preview(ctx context.Context, r *repo.Repo, o Request, front Frontend) (Previewed, error) {
	o.DryRun, o.Turn.NonInteractive = true, true
	if err := o.Check(); err != nil {
		return Previewed{}, err
	}
	o.Tools.Enable, o.Tools.Disable = toolset.SpelledOut(o.Tools.Enable), toolset.SpelledOut(o.Tools.Disable)
	taken := &Previewed{}
	o.preview = taken
	err := newRun(previewFront{front}, r, o, nil).doTransient(ctx)
	if taken.Parts != nil {
		err = nil // the error reports a missing answer
	}
	return *taken, err
}

// A previewFront hides a turn that does not run.
type previewFront struct{ Frontend }

func (previewFront) Output(OutputOptions) Output { return NoOutput{} }
func (previewFront) User() User                  { return nil }
