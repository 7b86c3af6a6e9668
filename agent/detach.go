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
	registry, err := t.repo.Processes().Registry()
	if err != nil {
		return err
	}
	log, err := registry.Log(t.id)
	if err != nil {
		return problem.New(problem.ExitFailed, "internal", "nothing can run in the background: %v.", err)
	}
	defer log.Close()
	o := background.Order{
		Dir: t.env.Dir, Log: log.Name(), Asked: begin != nil, Tools: t.opts.Tools, WithoutTools: t.opts.WithoutTools, NoTools: t.opts.NoTools,
		Profiles: t.opts.Profiles, Uninstructed: t.opts.NoInstructions, Policy: t.opts.Policy, Pending: t.opts.Pending, Anyway: t.opts.Anyway, Wait: t.opts.Wait, CFG: t.env.Cfg, Quiet: t.opts.Quiet,
	}
	if begin == nil {
		o.Model, o.Yes = t.opts.Model, t.opts.Yes // else the request has recorded them
	} else if err := begin(); err != nil {
		return err
	}
	turn := background.Turn{ID: t.id, Lock: t.held, Environ: t.env.Environ, Log: log}
	pid, err := turn.Start(ctx, o)
	if err == nil {
		t.out.Detached(DetachedJSON{"detached", t.id, pid, log.Name()})
	}
	return err
}
