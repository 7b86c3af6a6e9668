package crashtest

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
)

// A Point is one system call that changes the file system or starts a child.
type Point struct {
	N        int    // from 1, in the order in which the program made the calls
	Syscall  string // as the manual names it
	Path     string // the changed path; of a rename or link the new name; "" for a child
	Child    string // the program that makes the call, if that is another than the command's own process
	Returned bool   // the call has been performed
}

// String is the point for a person: "17 renameat /repo/.git/HEAD (after it)".
func (p Point) String() string {
	text := fmt.Sprint(p.N, " ", p.Syscall)
	if p.Child != "" {
		text = fmt.Sprint(p.N, " ", p.Child, ": ", p.Syscall)
	}
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
	Points []Point // all calls up to the end, each once, before it is performed
	Killed *Point  // point of the requested kill, or nil
	Faults []Point // points of injected faults, before the call
	Exit   int     // the command's exit code; -1 if a signal ended it
}

// At kills before call n is performed.
func At(n int) func(Point) bool {
	return func(p Point) bool { return p.N == n && !p.Returned }
}

// After kills as soon as call n has been performed.
func After(n int) func(Point) bool {
	return func(p Point) bool { return p.N == n && p.Returned }
}

// Run starts a command, which must not have been started, and waits until it and everything that it started
// has ended. It asks kill at each point twice, before the call and after it, and kills the command if kill
// returns true. A nil kill never does. The command leads a session of its own. It and its children inherit
// one descriptor in addition to those of cmd.
//
// An exit other than 0 is not an error. The end of ctx kills everything that still runs and is an error, with
// the points so far.
func Run(ctx context.Context, cmd *exec.Cmd, kill func(Point) bool) (Result, error) {
	act := func(p Point) Act { return Act{Kill: kill != nil && kill(p)} }
	return trace(ctx, cmd, traceOptions, act)
}

// An Act is the effect at a point. The zero Act has none.
type Act struct {
	// Kill kills the process that makes the call, at either side of it.
	Kill bool
	// Errno is the error that the call returns without being performed.
	Errno syscall.Errno
	// Short makes a write or pwrite64 of more than one byte write the first half
	// of them. Other calls ignore it.
	Short bool
}

// Inject is [Run] over the command and all its children: the points are those of the whole family, and act
// chooses the effect at each. It is asked before a call and after it. After the call it can only kill. A kill
// ends the process that makes the call. The others go on, without further points.
func Inject(ctx context.Context, cmd *exec.Cmd, act func(Point) Act) (Result, error) {
	return trace(ctx, cmd, childOptions, act)
}

func trace(ctx context.Context, cmd *exec.Cmd, options int, act func(Point) Act) (Result, error) {
	result, err := run(ctx, cmd, options, act)
	if err != nil {
		err = fmt.Errorf("trace %s: %w", cmd.Path, err)
	}
	return result, err
}
