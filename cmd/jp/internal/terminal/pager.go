package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"jp/internal/safetext"
)

// Page returns where a long text for out is to be written: to the person's own
// pager ($JP_PAGER, else $PAGER, else less -FRX) if out is a terminal and
// enabled is true, else to out itself. An empty setting, or cat, is no pager.
//
// Close waits until the person has left the pager, and must be called. A Write
// after that fails with an error that is [syscall.EPIPE]: the writer should
// end, quietly.
func Page(environ []string, out *os.File, enabled bool) (io.WriteCloser, error) {
	command := pagerOf(environ, "-FRX")
	if !enabled || command == "" || !IsTerminal(out) {
		return unpaged{out}, nil
	}
	return startPager(command, environ, out)
}

// PageWhole shows a text in the person's pager until they leave it, and reports whether there is one. Less then has a screen of
// its own.
func PageWhole(environ []string, out *os.File, text string) bool {
	command := pagerOf(environ, "-R")
	if command == "" || !IsTerminal(out) {
		return false
	}
	if _, set := lookup(environ, "LESS"); !set {
		environ = append(environ[:len(environ):len(environ)], "LESS=R")
	}
	w, err := startPager(command, environ, out)
	if err != nil {
		return false
	}
	_, _ = io.WriteString(w, text) // the person may leave before the end
	return w.Close() == nil
}

// pagerOf is the person's pager, less with these options if they named none, "" for no pager.
func pagerOf(environ []string, options string) string {
	command, set := lookup(environ, "JP_PAGER")
	if !set {
		command, set = lookup(environ, "PAGER")
	}
	if !set {
		if _, err := exec.LookPath("less"); err != nil {
			return ""
		}
		command = "less " + options
	}
	if command = strings.TrimSpace(command); command == "cat" {
		return ""
	}
	return command
}

// startPager runs the person's setting as a shell does; it is never read from a
// repository.
func startPager(command string, environ []string, out *os.File) (io.WriteCloser, error) {
	if _, set := lookup(environ, "LESS"); !set {
		environ = append(environ[:len(environ):len(environ)], "LESS=FRX")
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, out, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the pager: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the pager %s: %w", safetext.Show(command), err)
	}
	return &pager{WriteCloser: in, cmd: cmd}, nil
}

// unpaged writes to a stream and leaves it open.
type unpaged struct{ io.Writer }

func (unpaged) Close() error { return nil }

type pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Close implements [io.Closer]. It ignores how the pager ended.
func (p *pager) Close() error {
	_ = p.WriteCloser.Close()
	_ = p.cmd.Wait()
	return nil
}
