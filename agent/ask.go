package agent

import (
	"context"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
)

// Ask does what a request says: it asks a new question, or resumes or discards an interrupted
// turn. What comes of it is told to the front end, and every decision is put to its user. The
// error is the one that the user sees.
func Ask(ctx context.Context, r *repo.Repo, o Request, front Frontend) error {
	if err := o.Check(); err != nil {
		return err
	}
	o.Tools, o.WithoutTools = toolset.SpelledOut(o.Tools), toolset.SpelledOut(o.WithoutTools)
	if toolset.FromTool(r, "") {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	if err := toolset.NotInHook(r.Env); err != nil {
		return err
	}
	q := NewQuery(ctx, front, r, o, nil)
	if o.NoPersist {
		return q.RunTransient(ctx)
	}
	r.Store.ExpectWrite()
	return q.Run(ctx)
}
