package ui

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
	"jp/internal/version"
)

// A Self runs commands of jp at the terminal of an Env.
type Self struct{ Env *Env }

// Run runs a command of jp at the terminal, as if it was typed there, and returns when it has ended.
// The command reports its own errors, and handles Ctrl+C.
func (s Self) Run(ctx context.Context, args ...string) error {
	e := s.Env
	for _, pair := range e.Overrides() {
		args = append(args, "--cfg", pair)
	}
	cmd := exec.CommandContext(ctx, version.OwnProgram(), append([]string{"-C", e.Dir}, args...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, e.Stdout, e.Stderr
	cmd.Env = append(e.Environ[:len(e.Environ):len(e.Environ)], ChatVariable+"=1")
	_, err := s.run(cmd.Run)
	return err
}

// ChatVariable tells a jp that a chat started it. Its hints then have the chat's form.
const ChatVariable = "JP_IN_CHAT"

// Shell runs a command line of the user's own in their shell, and describes its end, "" for exit 0.
// The command has the terminal. With output it prints both there and on the terminal, without the
// sequences that a terminal acts on. It then has no terminal to read: Ctrl+C comes from jp, and kills it at the second time.
func (s Self) Shell(ctx context.Context, line string, output *bytes.Buffer) (ended string, err error) {
	e := s.Env
	shell := cmp.Or(e.Get("SHELL"), "/bin/sh")
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	cmd.Dir, cmd.Env = e.Dir, e.Environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, e.Stdout, e.Stderr
	run := cmd.Run
	if output != nil {
		clean := safetext.NewStripper(e.Stdout)
		cmd.Stdin, cmd.Stdout = nil, io.MultiWriter(clean, output)
		cmd.Stderr = cmd.Stdout     // one pipe: the order is the command's
		cmd.WaitDelay = time.Second // its background processes may hold the pipe
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], repo.SessionVariable+"="+repo.SessionSource(e.Host))
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		run = func() error {
			if err := cmd.Start(); err != nil {
				return err
			}
			end := s.interrupts(cmd.Process.Pid)
			err := cmd.Wait()
			end()
			_ = clean.Close() // the next output finds a terminal that is gone
			if text := output.Bytes(); len(text) > 0 && text[len(text)-1] != '\n' {
				fmt.Fprintln(e.Stdout)
			}
			return err
		}
	}
	exit, err := s.run(run)
	if exit == nil {
		return "", err
	}
	return exit.String(), err
}

// Page shows a text in the user's pager, which has the terminal until the user leaves it. A turn that runs goes on.
func (s Self) Page(write func(w io.Writer)) error {
	e := s.Env
	defer s.lend()()
	w, err := terminal.PageAside(e.Environ, e.Stdout, !e.NoPager)
	if err != nil {
		return err
	}
	write(w) // the user may leave before the end
	return w.Close()
}

// lend lends the terminal and Ctrl+C to another program, until back is called.
func (s Self) lend() (back func()) {
	e := s.Env
	resume := e.Keys.lend(e.Console)
	taken := func(context.Context, bool) bool { return true }
	before := e.onInterrupt.Swap(&taken)
	return func() {
		e.onInterrupt.CompareAndSwap(&taken, before) // a turn that began or ended meanwhile has set its own
		resume()
	}
}

// stillRunning is how long a program has to end after Ctrl+C.
const stillRunning = 500 * time.Millisecond

// interrupts gives Ctrl+C to a process group without the terminal, until end is called. The second one kills the group.
func (s Self) interrupts(group int) (end func()) {
	e := s.Env
	pressed, ended, done := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	take := func(context.Context, bool) bool {
		select {
		case pressed <- struct{}{}:
		default: // the one before is on its way
		}
		return true
	}
	before := e.onInterrupt.Swap(&take)
	go func() {
		defer close(done)
		var late <-chan time.Time
		for signal := syscall.SIGINT; ; {
			select {
			case <-pressed:
				_ = syscall.Kill(-group, signal)
				if signal == syscall.SIGINT {
					signal, late = syscall.SIGKILL, time.After(stillRunning)
				}
			case <-late:
				fmt.Fprintln(e.Stdout, "\n"+e.Palette(e.Stdout).Dim("still running: Ctrl+C again kills it"))
			case <-ended:
				return
			}
		}
	}()
	return func() {
		e.onInterrupt.CompareAndSwap(&take, before)
		close(ended)
		<-done
	}
}

// run lends the terminal to a program until it has ended. An end that is no success is no error.
func (s Self) run(program func() error) (*os.ProcessState, error) {
	defer s.lend()()
	err := program()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ProcessState, nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil, nil
	}
	return nil, err
}

// At runs a command of jp at the terminal as if it was typed in a folder, and returns its exit code, which is below 0 after a signal.
func (s Self) At(ctx context.Context, dir, command, id string) (code int, err error) {
	if command == "attach" { // Ctrl+Z and Ctrl+\ leave it, and the terminal sends them to this process too
		taken := func() {}
		s.Env.onLeave.Store(&taken)
		defer s.Env.onLeave.Store(nil)
	}
	cmd := exec.CommandContext(ctx, version.OwnProgram(), "-C", dir, command, id)
	cmd.Args[0], cmd.Env = os.Args[0], s.Env.Environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Env.Stdin, s.Env.Stdout, s.Env.Stderr
	exit, err := s.run(cmd.Run)
	if exit == nil {
		return 0, err
	}
	return exit.ExitCode(), err
}
