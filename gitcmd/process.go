package gitcmd

import (
	"context"
	"fmt"
	"io"
)

// Process is a git that keeps running and is spoken to, such as
// `cat-file --batch`. It is for one goroutine at a time.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	wait   func() error
	cancel context.CancelFunc
	closed bool
}

// Start starts a git with pipes at its standard input and output. It runs without a time limit, and the end
// of ctx kills it. The caller must Close it.
func (g *Git) Start(ctx context.Context, c Command) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p, err := g.start(ctx, c)
	if err != nil {
		cancel()
		return nil, err
	}
	p.cancel = cancel
	return p, nil
}

func (g *Git) start(ctx context.Context, c Command) (*Process, error) {
	cmd, err := g.command(ctx, c)
	if err != nil {
		return nil, err
	}
	stderr := &capped{limit: 16 << 10}
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", c.Args[0], err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", c.Args[0], err)
	}
	if err := cmd.Start(); err != nil {
		return nil, g.outcome(ctx, c.Args, err, stderr)
	}
	wait := func() error { return g.outcome(ctx, c.Args, cmd.Wait(), stderr) }
	return &Process{Stdin: stdin, Stdout: stdout, wait: wait}, nil
}

// Kill ends the git at once. The caller must still Close it.
func (p *Process) Kill() { p.cancel() }

// Close ends the input, discards the rest of the output and waits. It returns an *ExitError if git failed. A
// second Close does nothing.
func (p *Process) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	defer p.cancel()
	_ = p.Stdin.Close() // the child may be gone already; wait tells
	_, _ = io.Copy(io.Discard, p.Stdout)
	return p.wait()
}
