package crashtest

import (
	"context"
	"fmt"
	"os/exec"
)

// A Point is one system call that changes the file system or starts a child.
type Point struct {
	N        int    // from 1, in the order in which the program made the calls
	Syscall  string // as the manual names it
	Path     string // what it changes; of a rename or link the new name; "" for a child
	Returned bool   // the call has been performed
}

// String is the point for a person: "17 renameat /repo/.git/HEAD (after it)".
func (p Point) String() string {
	text := fmt.Sprint(p.N, " ", p.Syscall)
	if p.Path != "" {
		text += " " + p.Path
	}
	if p.Returned {
		text += " (after it)"
	}
	return text
}

// A Result is how a program ran.
type Result struct {
	Points []Point // all calls up to the end, each once and not yet performed
	Killed *Point  // where kill said so; nil if it never did
	Exit   int     // the exit code; -1 if a signal ended it
}

// At kills before call n is performed.
func At(n int) func(Point) bool {
	return func(p Point) bool { return p.N == n && !p.Returned }
}

// After kills as soon as call n has been performed.
func After(n int) func(Point) bool {
	return func(p Point) bool { return p.N == n && p.Returned }
}

// Run starts a command, which must not have been started, and waits until it
// and everything that it started has ended. It asks kill at each point twice,
// before the call and after it, and kills the command where kill says so; a nil
// kill never does. The command leads a session of its own, and it and what it
// starts inherit one descriptor more than cmd names.
//
// An exit other than 0 is no error. The end of ctx kills everything that still
// runs and is an error, with the points so far.
func Run(ctx context.Context, cmd *exec.Cmd, kill func(Point) bool) (Result, error) {
	if kill == nil {
		kill = func(Point) bool { return false }
	}
	result, err := run(ctx, cmd, kill)
	if err != nil {
		return result, fmt.Errorf("trace %s: %w", cmd.Path, err)
	}
	return result, nil
}
