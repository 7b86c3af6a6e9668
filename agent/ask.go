package agent

import (
	"context"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
)

// Ask carries out a request: it asks a new question, or resumes or discards an interrupted turn. It reports
// the results to the front end, and puts every decision to its user. The error is the one that the user sees.
func Ask(ctx context.Context, r *repo.Repo, o Request, front Frontend) error {
	if err := o.Check(); err != nil {
		return err
	}
	o.Tools.Enable, o.Tools.Disable = toolset.SpelledOut(o.Tools.Enable), toolset.SpelledOut(o.Tools.Disable)
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
func RunDetached(ctx context.Context, front Frontend, r *repo.Repo, h *live.Handover) error {
	o := Request{
		Target: Target{ID: string(h.ID)},
		Resume: ResumeOptions{Continue: true, Pending: h.Order.Pending, Anyway: h.Order.Anyway},
		Input:  Input{None: true},
		Turn:   TurnOptions{NonInteractive: true, Model: h.Order.Model, Profiles: h.Order.Profiles, Yes: h.Order.Yes, NoInstructions: h.Order.Uninstructed, Policy: h.Order.Policy, Wait: h.Order.Wait},
		Tools:  ToolChoice{Enable: h.Order.Tools, Disable: h.Order.WithoutTools, None: h.Order.NoTools},
		Show:   ShowOptions{Quiet: h.Order.Quiet},
	}
	return newRun(front, r, o, h).do(ctx)
}
