package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/tool"
)

// An Ending is how a program ended.
type Ending struct {
	Err       error // of waiting for it; nil for exit 0
	Cancelled bool  // ctx ended first
	TimedOut  bool  // the limit came first
	Keys      bool  // it waited for keys of a terminal, without one
	Left      bool  // a process that it started kept the output open
	Limit     time.Duration
}

// Success reports whether the program ended with 0, by itself.
func (e Ending) Success() bool {
	return !e.Cancelled && !e.TimedOut && !e.Keys && (e.Err == nil || errors.Is(e.Err, exec.ErrWaitDelay))
}

// Words describe the ending, for one line and for the end of the output. long is "" after exit 0.
func (e Ending) Words() (short, long string) {
	var exit *exec.ExitError
	switch {
	case e.Cancelled:
		return "cancelled", "[cancelled; its process group was ended]"
	case e.TimedOut:
		short = "timed out after " + brief(e.Limit)
		return short, "[" + short + "; its process group was ended]"
	case e.Keys:
		return "waited for keys", "[it draws on a whole screen and waits for keys, and there is no terminal: its process group was ended. Run a command that prints and ends]"
	case e.Success() && e.Left:
		return "exit 0", "[a process that it started still runs; its further output is not shown]"
	case e.Success():
		return "exit 0", ""
	case errors.As(e.Err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			short = "ended by " + SignalName(status.Signal())
			return short, short
		}
		return fmt.Sprintf("exit %d", exit.ExitCode()), fmt.Sprintf("exit status %d", exit.ExitCode())
	}
	return "error", e.Err.Error()
}

// SignalName is the name of a signal, such as SIGKILL, or its number if it has no name.
func SignalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}

// NotStarted is the result of a call whose program failed to start, with the reason.
func NotStarted(err error) tool.Result {
	text := err.Error()
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		text = "no such program: " + text
	case errors.Is(err, os.ErrPermission):
		text = "not a program that can be run: " + text
	}
	return tool.Result{
		Content: []byte(text), IsError: true, WrittenFiles: []string{},
		Effect: "error: " + conversation.Shorten(text, 48),
	}
}

// brief writes a duration without zero parts: 10m, 1h30m, 1m5s.
func brief(d time.Duration) string {
	var text string
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / unit.size; n > 0 {
			text += fmt.Sprintf("%d%s", n, unit.name)
			d %= unit.size
		}
	}
	if text == "" {
		return d.String()
	}
	return text
}
