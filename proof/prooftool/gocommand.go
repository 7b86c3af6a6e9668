package prooftool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// GoCommand is the Go command. When the context ends, it is asked to end.
func GoCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// Build runs the Go command for its output file. The error has its messages, unless the context has ended:
// then that is the reason. Build removes all other files that the command made, since it does not always do
// so itself.
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
