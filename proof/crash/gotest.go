package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"jp/internal/testing/crashtest/row"
)

// do runs a suite. Its tests may fail. An error means that it could not run them.
func (s suite) do(ctx context.Context, quick bool) (res *result, err error) {
	temporary, release, err := scratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	effort := "full"
	if quick {
		effort = "sample"
	}
	dir, pkg := ".", s.pkg
	if below, ours := strings.CutPrefix(s.pkg, "./proof/"); ours { // a module of its own
		dir, pkg = "proof", "./"+below
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-C", dir, "-json", "-count=1", "-timeout", s.timeout.String(), "-run", s.run, pkg)
	cmd.Env = slices.Concat(os.Environ(), s.formats.environ(), []string{row.Env + "=" + effort, "TMPDIR=" + temporary})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start go test: %w", err)
	}
	res = newResult(s)
	readErr := res.read(out)
	err = cmd.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("run go test %s: %w", s.pkg, err)
	}
	res.end(cmp.Or(err, readErr), stderr.String())
	return res, nil
}

// An event is one line of go test -json.
type event struct {
	Time    time.Time
	Action  string
	Test    string
	Output  string
	Elapsed float64 // seconds
}

// read takes all events of a run.
func (r *result) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.take(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what go test says: %w", err)
		}
	}
}

// take takes one line. It keeps a line that is not an event as output.
func (r *result) take(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		e = event{Action: "output", Output: string(line)}
	}
	top, _, _ := strings.Cut(e.Test, "/")
	switch e.Action {
	case "run", "cont": // a parallel test waits in between
		r.since[e.Test] = e.Time
		r.test(top)
	case "output", "build-output":
		r.said(e, top)
	case "fail":
		r.test(top).failed = true
	case "build-fail":
		r.test("").failed = true
	}
}
