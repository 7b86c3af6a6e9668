package shell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"jp/tool"
)

// poll is how often a group that was told to end is looked at.
const poll = 5 * time.Millisecond

// A process is one program of a call.
type process struct {
	argv, env []string
	dir       string
	stdin     string
	limit     time.Duration
	grace     time.Duration
	out       *tool.Capture
}

// run starts the program in a group of its own and waits for it. The group is
// ended at the limit and at the end of ctx. An error means that the program was
// not started.
func (p *process) run(ctx context.Context, call tool.Call) (ending, error) {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.env, p.input()
	cmd.Stdout, cmd.Stderr = p.out, p.out // one pipe: the order is the program's
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = p.grace
	if call.Lock != nil {
		cmd.ExtraFiles = []*os.File{call.Lock}
	}
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	group := cmd.Process.Pid
	if call.Started != nil {
		call.Started(group)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return p.wait(ctx, group, done), nil
}

// wait returns when the program and its output have ended.
func (p *process) wait(ctx context.Context, group int, done <-chan error) ending {
	limit := time.NewTimer(p.limit)
	defer limit.Stop()
	ended := ending{limit: p.limit}
	select {
	case ended.err = <-done:
		ended.left = errors.Is(ended.err, exec.ErrWaitDelay)
		return ended
	case <-ctx.Done():
		ended.cancelled = true
	case <-limit.C:
		ended.timedOut = true
	}
	ended.err = endGroup(group, p.grace, done)
	return ended
}

// endGroup tells a process group to end, kills what is left of it after the
// grace, and returns how its leader ended.
func endGroup(group int, grace time.Duration, done <-chan error) error {
	signal(group, syscall.SIGTERM)
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	var leader error
	waiting := done
	for waiting != nil || alive(group) {
		select {
		case leader = <-waiting:
			waiting = nil
		case <-tick.C:
		case <-deadline.C:
			signal(group, syscall.SIGKILL)
			if waiting != nil {
				leader = <-waiting
			}
			return leader
		}
	}
	return leader
}

// signal sends a signal to a whole group; one that has ended needs none.
func signal(group int, s syscall.Signal) { _ = syscall.Kill(-group, s) }

// alive says whether a group has a process, be it one that nobody waited for.
func alive(group int) bool { return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }
