package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// A process is one run of a hook.
type process struct {
	argv, env      []string
	dir            string
	input          []byte
	limit, grace   time.Duration
	stdout, stderr capped
}

// A capped writer keeps the beginning of its input.
type capped struct {
	most int
	text []byte
	full bool // there was more
}

// Write implements [io.Writer]; it takes all and keeps a part.
func (c *capped) Write(p []byte) (int, error) {
	room := min(c.most-len(c.text), len(p))
	c.text = append(c.text, p[:room]...)
	c.full = c.full || room < len(p)
	return len(p), nil
}

// run starts the program in a group of its own and waits for it, and is its exit
// code. The group is ended at the limit and at the end of ctx.
func (p *process) run(ctx context.Context) (int, error) {
	cmd, err := command(p.argv, p.dir)
	if err != nil {
		return 0, err
	}
	cmd.Env, cmd.Stdin = p.env, bytes.NewReader(p.input)
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = p.grace // for processes that it left, with its output open
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	limit := time.NewTimer(p.limit)
	defer limit.Stop()
	select {
	case err := <-done:
		// Open output of its children, and unread input, are no errors.
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() >= 0:
			return exit.ExitCode(), nil
		case errors.As(err, &exit):
			return 0, fmt.Errorf("%w: %v", ErrStatus, exit)
		case err == nil, errors.Is(err, exec.ErrWaitDelay), errors.Is(err, syscall.EPIPE):
			return 0, nil
		}
		return 0, err
	case <-ctx.Done():
		p.end(cmd.Process.Pid, done)
		return 0, context.Cause(ctx)
	case <-limit.C:
		p.end(cmd.Process.Pid, done)
		return 0, fmt.Errorf("%w: it took longer than %v", ErrTimeout, p.limit)
	}
}

// end tells the group to end, and kills the rest of it after the grace.
func (p *process) end(group int, done <-chan error) {
	_ = syscall.Kill(-group, syscall.SIGTERM) // unless it has ended
	grace := time.NewTimer(p.grace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		_ = syscall.Kill(-group, syscall.SIGKILL)
		<-done
		return
	}
	_ = syscall.Kill(-group, syscall.SIGKILL) // processes that its leader left
}
