package agent

import (
	"context"

	"jp/agent/background"
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
	run := newRun(front, r, o, nil)
	if o.NoPersist {
		return run.doTransient(ctx)
	}
	r.Store.PrepareWrite()
	return run.do(ctx)
}

// RunDetached goes on with a turn that was handed over to this process, without a user to ask.
func RunDetached(ctx context.Context, front Frontend, r *repo.Repo, h *background.Handover) error {
	o := Request{
		ID: string(h.ID), ContinueTurn: true, Bare: true, NonInteractive: true, Model: h.Model, Profiles: h.Profiles, Yes: h.Yes, Tools: h.Tools, WithoutTools: h.WithoutTools,
		NoTools: h.NoTools, NoInstructions: h.Uninstructed, Policy: h.Policy, Pending: h.Pending, Anyway: h.Anyway, Wait: h.Wait,
		Quiet: h.Quiet,
	}
	return newRun(front, r, o, h).do(ctx)
}
