package agent

import (
	"context"

	"jp/agent/live"
	"jp/agent/problem"
)

// detach lets a process in the background go on with the turn. begin records a turn that has not begun, and
// is nil for one that has. If the output of the process cannot be stored, detach fails.
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
	o := live.BackgroundOrder{
		Dir: t.run.env.Dir, Log: log.Name(), Asked: begin != nil, Tools: t.run.opts.Tools.Enable, WithoutTools: t.run.opts.Tools.Disable, NoTools: t.run.opts.Tools.None,
		Profiles: t.run.opts.Turn.Profiles, Uninstructed: t.run.opts.Turn.NoInstructions, Policy: t.run.opts.Turn.Policy, Pending: t.run.opts.Resume.Pending, Anyway: t.run.opts.Resume.Anyway, Wait: t.run.opts.Turn.Wait, CFG: t.run.env.Overrides(), Quiet: t.run.opts.Show.Quiet,
	}
	if begin == nil {
		o.Model, o.Yes = t.run.opts.Turn.Model, t.run.opts.Turn.Yes // else the request has recorded them
	} else if err := begin(); err != nil {
		return err
	}
	turn := live.BackgroundTurn{ID: t.id, Lock: t.res.held, Environ: t.run.env.Environ, Log: log}
	pid, err := turn.Start(ctx, o)
	if err == nil {
		t.run.out.Detached(DetachedJSON{"detached", t.id, pid, log.Name()})
	}
	return err
}
