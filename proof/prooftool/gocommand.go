package prooftool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// GoCommand is the Go command. Where the context ends, it is asked to end.
func GoCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// Build runs the Go command for what it makes. What it says is in the error, unless the
// context has ended: then that says why. Nothing else that it made is left: it does not
// always take all of that away itself.
func Build(ctx context.Context, cmd *exec.Cmd) error {
	temporary, err := os.MkdirTemp("", "jp-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	cmd.Env = append(cmd.Environ(), "GOTMPDIR="+temporary)
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %s", err, out)
}
