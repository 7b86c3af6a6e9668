package command

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// poll is the interval for checking a group that was told to end.
const poll = 5 * time.Millisecond

// wait returns when the program and its output have ended.
func (p Program) wait(ctx context.Context, group int, done <-chan error, shown *screen) Ending {
	var limit <-chan time.Time
	if p.Limit > 0 {
		timer := time.NewTimer(p.Limit)
		defer timer.Stop()
		limit = timer.C
	}
	look := time.NewTicker(screenSilent / 10)
	defer look.Stop()
	ended := Ending{Limit: p.Limit}
	for over := false; !over; {
		over = true
		select {
		case ended.Err = <-done:
			ended.Left = errors.Is(ended.Err, exec.ErrWaitDelay)
			return ended
		case <-ctx.Done():
			ended.Cancelled = true
		case <-limit:
			ended.TimedOut = true
		case now := <-look.C:
			ended.Keys = shown.waits(now)
			over = ended.Keys
		}
	}
	ended.Err = EndGroup(group, p.Grace, done)
	return ended
}

// EndGroup tells a process group to end, kills the rest of it after the grace, and returns the leader's
// result from done. done is nil if another process waits for the leader.
func EndGroup(group int, grace time.Duration, done <-chan error) error {
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

// signal sends a signal to a whole group. An ended group is no error.
func signal(group int, s syscall.Signal) { _ = syscall.Kill(-group, s) }

// alive reports whether a group has a process, zombies included.
func alive(group int) bool { return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }
