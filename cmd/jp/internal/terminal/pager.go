package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"jp/internal/safetext"
)

// Page returns the writer for a long text: the person's own pager ($JP_PAGER, else $PAGER, else less
// -FRX) if out is a terminal and enabled is true, else out itself. An empty setting, or cat, means no
// pager.
//
// Close waits until the person has left the pager, and must be called. A Write after that returns an
// error that is [syscall.EPIPE]: the writer should end, quietly.
func Page(environ []string, out *os.File, enabled bool) (io.WriteCloser, error) {
	return page(environ, out, enabled, "FRX", "")
}

// PageAside is [Page] for a text that the person asked for during other work: less shows even a short
// text on a screen of its own until they leave, and leaves the terminal's scrollback unchanged.
func PageAside(environ []string, out *os.File, enabled bool) (io.WriteCloser, error) {
	return page(environ, out, enabled, "R", " -+F -+X")
}

// PageWhole shows a text as [PageAside] does, and reports whether there is a pager.
func PageWhole(environ []string, out *os.File, text string) bool {
	w, err := PageAside(environ, out, true)
	if _, none := w.(unpaged); none || err != nil {
		return false
	}
	_, _ = io.WriteString(w, text) // the person may leave before the end
	return w.Close() == nil
}

// page starts the person's setting as a shell does. It is never read from a repository. Less has these options if the person has
// set none, and further words at the end of its command line.
func page(environ []string, out *os.File, enabled bool, options, further string) (io.WriteCloser, error) {
	command, set := lookup(environ, "JP_PAGER")
	if !set {
		command, set = lookup(environ, "PAGER")
	}
	if _, err := exec.LookPath("less"); !set && err == nil {
		command = "less -" + options
	}
	command = strings.TrimSpace(command)
	if !enabled || command == "" || command == "cat" || !IsTerminal(out) {
		return unpaged{out}, nil
	}
	if program, _, _ := strings.Cut(command, " "); filepath.Base(program) == "less" && !strings.ContainsAny(command, "|&;<>()") {
		command += further
	}
	if _, set := lookup(environ, "LESS"); !set {
		environ = append(environ[:len(environ):len(environ)], "LESS="+options)
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
