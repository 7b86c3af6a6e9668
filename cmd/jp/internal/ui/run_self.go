package ui

import (
	"context"
	"errors"
	"os"
	"os/exec"

	"jp/internal/version"
)

// A Self runs commands of jp at the terminal of an Env.
type Self struct{ Env *Env }

// Run runs a command of jp at the terminal, as if it was typed there, and returns when it has
// ended. Its own errors are its own to tell. Ctrl+C is for that command.
func (s Self) Run(ctx context.Context, args ...string) error {
	e := s.Env
	defer e.Keys.lend(e.Console)()
	taken := func(context.Context) bool { return true }
	before := e.onInterrupt.Swap(&taken)
	defer e.onInterrupt.Store(before)
	for _, pair := range e.Cfg {
		args = append(args, "--cfg", pair)
	}
	cmd := exec.CommandContext(ctx, version.OwnProgram(), append([]string{"-C", e.Dir}, args...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = e.Stdin, e.Stdout, e.Stderr, e.Environ
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}
