package agent

import (
	"context"

	"jp/agent/background"
	"jp/agent/problem"
)

// detach lets a process in the background go on with the turn. begin records a turn that is not
// begun yet, and is nil for one that is. Where the output of the process has no place, nothing
// can run in the background.
func (t *target) detach(ctx context.Context, begin func() error) error {
	registry, err := t.run.repo.Processes().Registry()
	if err != nil {
		return err
	}
	log, err := registry.Log(t.id)
	if err != nil {
		return problem.New(problem.ExitFailed, "internal", "nothing can run in the background: %v.", err)
	}
	defer log.Close()
	o := background.Order{
		Dir: t.run.env.Dir, Log: log.Name(), Asked: begin != nil, Tools: t.run.opts.Tools, WithoutTools: t.run.opts.WithoutTools, NoTools: t.run.opts.NoTools,
		Profiles: t.run.opts.Profiles, Uninstructed: t.run.opts.NoInstructions, Policy: t.run.opts.Policy, Pending: t.run.opts.Pending, Anyway: t.run.opts.Anyway, Wait: t.run.opts.Wait, CFG: t.run.env.Cfg, Quiet: t.run.opts.Quiet,
	}
	if begin == nil {
		o.Model, o.Yes = t.run.opts.Model, t.run.opts.Yes // else the request has recorded them
	} else if err := begin(); err != nil {
		return err
	}
	turn := background.Turn{ID: t.id, Lock: t.res.held, Environ: t.run.env.Environ, Log: log}
	pid, err := turn.Start(ctx, o)
	if err == nil {
		t.run.out.Detached(DetachedJSON{"detached", t.id, pid, log.Name()})
	}
	return err
}
