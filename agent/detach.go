package agent

import (
	"context"

	"jp/agent/background"
	"jp/agent/problem"
	"jp/agent/repo"
)

// RunDetached goes on with a turn that was handed over to this process, with nobody to ask.
func RunDetached(ctx context.Context, front Frontend, r *repo.Repo, h *background.Handover) error {
	o := Request{
		ID: string(h.ID), ContinueTurn: true, Bare: true, NonInteractive: true, Model: h.Model, Yes: h.Yes, Tools: h.Tools, WithoutTools: h.WithoutTools,
		NoTools: h.NoTools, Policy: h.Policy, Pending: h.Pending, Anyway: h.Anyway, Wait: h.Wait,
		Quiet: h.Quiet,
	}
	return NewQuery(ctx, front, r, o, h).Run(ctx)
}

// detach lets a process in the background go on with the turn. begin records a turn that is not
// begun yet, and is nil for one that is. Where the output of the process has no place, nothing
// can run in the background.
func (q *query) detach(ctx context.Context, begin func() error) error {
	registry, err := q.repo.Processes().Registry()
	if err != nil {
		return err
	}
	log, err := registry.Log(q.id)
	if err != nil {
		return problem.New(problem.ExitFailed, "internal", "nothing can run in the background: %v.", err)
	}
	defer log.Close()
	o := background.Order{
		Dir: q.env.Dir, Log: log.Name(), Asked: begin != nil, Tools: q.opts.Tools, WithoutTools: q.opts.WithoutTools, NoTools: q.opts.NoTools,
		Policy: q.opts.Policy, Pending: q.opts.Pending, Anyway: q.opts.Anyway, Wait: q.opts.Wait, CFG: q.env.Cfg, Quiet: q.opts.Quiet,
	}
	if begin == nil {
		o.Model, o.Yes = q.opts.Model, q.opts.Yes // else the request has recorded them
	} else if err := begin(); err != nil {
		return err
	}
	turn := background.Turn{ID: q.id, Lock: q.held, Environ: q.env.Environ, Log: log}
	pid, err := turn.Start(ctx, o)
	if err == nil {
		q.out.Detached(DetachedJSON{"detached", q.id, pid, log.Name()})
	}
	return err
}
