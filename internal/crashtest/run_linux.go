//go:build amd64 || arm64

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// traceOptions: threads are traced, children are not, and a tracer that dies
// takes the program with it.
const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

func run(ctx context.Context, cmd *exec.Cmd, kill func(Point) bool) (Result, error) {
	// The kernel takes a tracer's requests only from the thread that started
	// the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	all, err := start(cmd)
	if err != nil {
		return Result{}, err
	}
	stop := context.AfterFunc(ctx, all.kill)
	defer stop()
	t := tracer{cmd: cmd, kill: kill, leader: cmd.Process.Pid, threads: map[int]*thread{}}
	if err = t.run(); err != nil {
		all.kill()
	}
	all.wait()
	_ = cmd.Wait() // the tracer has taken the exit status; this waits for the output
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return t.result, err
}

// start starts the command, stopped before its first instruction.
func start(cmd *exec.Cmd) (*family, error) {
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Ptrace, attr.Setsid = true, true
	cmd.SysProcAttr = &attr
	all, err := newFamily(cmd)
	if err != nil {
		return nil, err
	}
	err = cmd.Start()
	all.begun()
	if err == nil {
		return all, nil
	}
	all.wait()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		err = fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return nil, err
}

// A thread of the program, between the stops at which it is seen.
type thread struct {
	inside *Point // the call that it is in, if that counts
}

type tracer struct {
	cmd     *exec.Cmd
	kill    func(Point) bool
	leader  int
	threads map[int]*thread
	result  Result
}

// run follows all threads until the last one is gone. What goes wrong before
// that ends the program.
func (t *tracer) run() (err error) {
	for {
		var status unix.WaitStatus
		// The group, not any child: this process has others, which are not ours.
		tid, waited := unix.Wait4(-t.leader, &status, unix.WALL, nil)
		switch {
		case errors.Is(waited, unix.EINTR):
		case waited != nil:
			return errors.Join(err, fmt.Errorf("wait: %w", waited))
		case status.Stopped() && err == nil:
			if err = t.stopped(tid, status); err != nil {
				_ = t.cmd.Process.Kill() // it may have ended
			}
		case status.Stopped(): // it is about to die
		case tid == t.leader: // the leader is reported last
			t.result.Exit = status.ExitStatus()
			return err
		default:
			delete(t.threads, tid)
		}
	}
}

// stopped deals with one stop of a thread and lets the thread go on.
func (t *tracer) stopped(tid int, status unix.WaitStatus) error {
	th, known := t.threads[tid]
	if !known {
		th = new(thread)
		t.threads[tid] = th
		if tid == t.leader { // stopped by its exec
			if err := unix.PtraceSetOptions(tid, traceOptions); err != nil {
				return gone(fmt.Errorf("%w: options: %w", ErrUnsupported, err))
			}
			return t.resume(tid, 0)
		}
	}
	signal := status.StopSignal()
	switch {
	case signal == unix.SIGTRAP|0x80:
		killed, err := t.atSyscall(tid, th)
		if killed || err != nil {
			return gone(err)
		}
		signal = 0
	case signal == unix.SIGTRAP && status.TrapCause() > 0: // a new thread, an exec
		signal = 0
	case signal == unix.SIGSTOP && !known: // how a new thread begins
		signal = 0
	}
	return t.resume(tid, signal)
}

func (t *tracer) resume(tid int, signal unix.Signal) error {
	return gone(unix.PtraceSyscall(tid, int(signal)))
}

// gone drops the error of a thread that was killed while it was stopped.
func gone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// atSyscall looks at the call that a thread begins or has ended. At a fatal
// signal the kernel leaves out a call that has not begun.
func (t *tracer) atSyscall(tid int, th *thread) (killed bool, err error) {
	var info syscallInfo
	if err := info.read(tid); err != nil {
		return false, err
	}
	switch info.Op {
	case unix.PTRACE_SYSCALL_INFO_ENTRY:
		th.inside = nil
		name, path, counts := changes(tid, info.Nr, info.Args)
		if !counts || t.result.Killed != nil {
			return false, nil
		}
		p := Point{N: len(t.result.Points) + 1, Syscall: name, Path: path}
		t.result.Points = append(t.result.Points, p)
		th.inside = &p
		return t.ask(p)
	case unix.PTRACE_SYSCALL_INFO_EXIT:
		p := th.inside
		th.inside = nil
		if p == nil || t.result.Killed != nil {
			return false, nil
		}
		p.Returned = true
		return t.ask(*p)
	}
	return false, nil
}

func (t *tracer) ask(p Point) (killed bool, err error) {
	if !t.kill(p) {
		return false, nil
	}
	t.result.Killed = &p
	return true, t.cmd.Process.Kill()
}
