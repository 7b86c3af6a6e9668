//go:build amd64 || arm64

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// traceOptions: threads are traced, children are not, and the program dies with its tracer.
const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

// childOptions trace the children, and theirs, too.
const childOptions = traceOptions | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK

func run(ctx context.Context, cmd *exec.Cmd, options int, act func(Point) Act) (result Result, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	onThread(func() { result, err = runHere(ctx, cmd, options, act) })
	return result, err
}

// onThread runs a function on a thread of its own without a child. The kernel takes a tracer's requests only
// from the thread that started the program, and without another child this thread can wait only for the
// program's threads.
func onThread(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		path := fmt.Sprintf("/proc/self/task/%d/children", unix.Gettid())
		if children, _ := os.ReadFile(path); len(children) > 0 {
			onThread(do) // while this thread is taken it is another one
			return
		}
		do()
	}()
	<-done
}

func runHere(ctx context.Context, cmd *exec.Cmd, options int, act func(Point) Act) (Result, error) {
	all, err := start(cmd)
	if err != nil {
		return Result{}, err
	}
	stop := context.AfterFunc(ctx, all.kill)
	defer stop()
	t := tracer{act: act, options: options, leader: cmd.Process.Pid, threads: map[int]*thread{}}
	if err = t.run(all); err != nil {
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

// A thread of the program, or of a child, between the stops at which it is seen.
type thread struct {
	inside *Point // the call that it is in, if that counts
	fault  fault  // the fault of that call
}

type tracer struct {
	act     func(Point) Act
	options int
	leader  int
	threads map[int]*thread
	result  Result
}

// run follows all threads until the last one is gone. An error before that ends the family.
func (t *tracer) run(all *family) (err error) {
	for {
		var status unix.WaitStatus
		// Of this thread's children: those of this process belong to others.
		tid, waited := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(waited, unix.EINTR):
		case errors.Is(waited, unix.ECHILD):
			return err
		case waited != nil:
			return errors.Join(err, fmt.Errorf("wait: %w", waited))
		case status.Stopped() && err == nil:
			if err = t.stopped(tid, status); err != nil {
				all.killOnce()
			}
		case status.Stopped(): // it is about to die, unless it has begun only now
			_ = unix.Kill(tid, unix.SIGKILL)
		default:
			if tid == t.leader {
				t.result.Exit = status.ExitStatus()
			}
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
			if err := unix.PtraceSetOptions(tid, t.options); err != nil {
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
	case signal == unix.SIGTRAP && status.TrapCause() > 0: // a new thread or child, an exec
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

// atSyscall looks at the call that a thread begins or has ended.
func (t *tracer) atSyscall(tid int, th *thread) (killed bool, err error) {
	var info syscallInfo
	if err := info.read(tid); err != nil {
		return false, err
	}
	switch info.Op {
	case unix.PTRACE_SYSCALL_INFO_ENTRY:
		*th = thread{}
		name, path, counts := changes(tid, info.Nr, info.Args)
		if !counts || t.result.Killed != nil {
			return false, nil
		}
		p := Point{N: len(t.result.Points) + 1, Syscall: name, Path: path, Child: t.child(tid)}
		t.result.Points = append(t.result.Points, p)
		th.inside = &p
		return t.enter(tid, th)
	case unix.PTRACE_SYSCALL_INFO_EXIT:
		ended := *th
		*th = thread{}
		if ended.inside == nil {
			return false, nil
		}
		return t.leave(tid, ended)
	}
	return false, nil
}

// child is the name of the program that a thread runs, "" if that is the
// command's own process.
func (t *tracer) child(tid int) string {
	if t.options == traceOptions || tid == t.leader {
		return ""
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", t.leader, tid)); err == nil {
		return ""
	}
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", tid))
	return filepath.Base(path)
}

// enter asks about the fate of a call that begins. At a fatal signal the kernel leaves the call out.
func (t *tracer) enter(tid int, th *thread) (killed bool, err error) {
	p := *th.inside
	switch act := t.act(p); {
	case act.Kill:
		return true, t.kill(tid, p)
	case act.Errno != 0:
		th.fault.errno = act.Errno
		err = skip(tid)
	case act.Short:
		th.fault.count, err = shorten(tid, p.Syscall)
	}
	if th.fault != (fault{}) {
		t.result.Faults = append(t.result.Faults, p)
	}
	return false, err
}

// leave gives a call its outcome, and asks whether this is its last one.
func (t *tracer) leave(tid int, th thread) (killed bool, err error) {
	if err := th.fault.end(tid); err != nil || t.result.Killed != nil {
		return false, err
	}
	p := *th.inside
	p.Returned = true
	if !t.act(p).Kill {
		return false, nil
	}
	return true, t.kill(tid, p)
}

// kill kills the process of a thread, with all of its threads.
func (t *tracer) kill(tid int, p Point) error {
	t.result.Killed = &p
	return unix.Kill(tid, unix.SIGKILL)
}
