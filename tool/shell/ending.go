package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"jp/conversation"
	"jp/tool"
)

// noteRoom is what is kept free for the lines that say how a program ended.
const noteRoom = 1 << 10

// An ending is how a program ended.
type ending struct {
	err       error // of waiting for it; nil for exit 0
	cancelled bool
	timedOut  bool
	left      bool // a process that it started kept the output open
	limit     time.Duration
}

// result is the output with a last line that says how the program ended, unless
// it ended well.
func (e ending) result(out *tool.Capture) tool.Result {
	short, long := e.words()
	content, whole := out.Content()
	if long != "" {
		if len(content) > 0 && content[len(content)-1] != '\n' {
			content = append(content, '\n')
		}
		content = append(content, long+"\n"...)
	}
	return tool.Result{
		Content: content, Truncated: whole,
		IsError: e.cancelled || e.timedOut || !e.success(),
		Effect:  fmt.Sprintf("%s, %s", short, count(out.Lines())),
	}
}

// success says whether the program itself ended with 0.
func (e ending) success() bool { return e.err == nil || errors.Is(e.err, exec.ErrWaitDelay) }

// words are the ending for one line, and for the end of the output.
func (e ending) words() (short, long string) {
	var exit *exec.ExitError
	switch {
	case e.cancelled:
		return "cancelled", "[cancelled; its processes were ended]"
	case e.timedOut:
		short = "timed out after " + brief(e.limit)
		return short, "[" + short + "; its processes were ended]"
	case e.success() && e.left:
		return "exit 0", "[a process that it started still runs; its further output is not shown]"
	case e.success():
		return "exit 0", ""
	case errors.As(e.err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			short = "ended by " + status.Signal().String()
			return short, short
		}
		return fmt.Sprintf("exit %d", exit.ExitCode()), fmt.Sprintf("exit status %d", exit.ExitCode())
	}
	return "error", e.err.Error()
}

// notStarted is the result of a call for which no program ran.
func notStarted(err error) tool.Result {
	text := err.Error()
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		text = "no such program: " + text
	case errors.Is(err, os.ErrPermission):
		text = "not a program that can be run: " + text
	}
	return tool.Result{
		Content: []byte(text), IsError: true, Wrote: []string{},
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

func count(lines int64) string {
	if lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", lines)
}
