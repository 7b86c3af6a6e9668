package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// used runs a program and returns its usage. The program is stopped on its way out, when its peak is still
// on record.
func used(ctx context.Context, cmd *exec.Cmd) (usage, error) {
	runtime.LockOSThread() // the thread that starts a program is its tracer
	defer runtime.UnlockOSThread()
	said, err := os.CreateTemp("", "jp-bench-stderr-")
	if err != nil {
		return usage{}, err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd.Stderr, cmd.SysProcAttr = said, &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })() // it may have ended
	u, err := traced(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		text, _ := os.ReadFile(said.Name()) // the error tells enough without it
		if errors.Is(err, errFoundNothing) && len(text) == 0 {
			return u, cmd.Process.Release()
		}
		return usage{}, fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
	}
	return u, cmd.Process.Release()
}

// traced lets a program that has just been started go on to its end.
func traced(pid int) (u usage, err error) {
	var status syscall.WaitStatus
	var times syscall.Rusage
	for started := false; ; started = true {
		if _, err := syscall.Wait4(pid, &status, 0, &times); err != nil {
			return u, fmt.Errorf("wait for it: %w", err)
		}
		switch {
		case status.Exited() && status.ExitStatus() == 0:
			u.processor = time.Duration(times.Utime.Nano() + times.Stime.Nano())
			return u, nil
		case status.Exited() && status.ExitStatus() == 1:
			u.processor = time.Duration(times.Utime.Nano() + times.Stime.Nano())
			return u, errFoundNothing
		case !status.Stopped():
			return u, fmt.Errorf("it ended with status %#x", uint32(status))
		case !started:
			err = syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACEEXIT|unix.PTRACE_O_EXITKILL)
		case status.TrapCause() == unix.PTRACE_EVENT_EXIT:
			u.peak, err = peakOf(pid)
		}
		if err != nil {
			return u, err
		}
		if err := syscall.PtraceCont(pid, passedOn(status)); err != nil {
			return u, fmt.Errorf("let it go on: %w", err)
		}
	}
}

// passedOn is the signal that a program was stopped for and has to see, or 0.
func passedOn(status syscall.WaitStatus) int {
	if signal := status.StopSignal(); signal != syscall.SIGTRAP {
		return int(signal)
	}
	return 0
}

func peakOf(pid int) (int64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	return peakIn(string(status))
}
