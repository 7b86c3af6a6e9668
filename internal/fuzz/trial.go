package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"syscall"
	"time"
)

// runAll runs the suite's targets and hands over what came of each, until ctx
// ends.
func (s *suite) runAll(ctx context.Context, b budget, progress io.Writer, each func(result)) {
	for _, target := range s.targets {
		if ctx.Err() != nil {
			return
		}
		r := s.runOne(ctx, target, b)
		fmt.Fprintln(progress, r.line())
		each(r)
	}
}

// runOne runs a target, and once more for longer where the time did not suffice
// for its corpus: on a slow machine a short time may not.
func (s *suite) runOne(ctx context.Context, target string, b budget) result {
	r := s.try(ctx, target, b)
	if !r.untried() || ctx.Err() != nil {
		return r
	}
	again := s.try(ctx, target, b.longer())
	again.took += r.took
	return again
}

func (s *suite) try(ctx context.Context, target string, b budget) result {
	r := result{suite: s, target: target}
	before, err := s.failing(target)
	if err != nil {
		r.err = err
		return r
	}
	began := time.Now()
	var out string
	out, r.err = s.fuzz(ctx, target, b)
	r.took = time.Since(began)
	r.stats, r.baseline = lastStats(out), lastBaseline(out)
	r.output = unusual(out)
	after, err := s.failing(target)
	if r.err == nil {
		r.err = err
	}
	r.inputs = slices.DeleteFunc(after, func(name string) bool { return slices.Contains(before, name) })
	r.settle(b, out)
	if ctx.Err() != nil {
		r.interrupt(out)
	}
	return r
}

// fuzz runs one target, in the package's folder as go test does.
func (s *suite) fuzz(ctx context.Context, target string, b budget) (string, error) {
	cache, err := s.cacheDir(ctx)
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeoutCause(ctx, b.limit(), fmt.Errorf("it still ran after %s", b.limit()))
	defer cancel()
	cmd := exec.CommandContext(limited, s.binary, "-test.run=^$", "-test.fuzz=^"+target+"$", "-test.fuzztime="+b.text,
		"-test.fuzzminimizetime=1s", "-test.fuzzcachedir="+cache, "-test.paniconexit0")
	cmd.Dir = s.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if limited.Err() != nil {
		err = context.Cause(limited)
	}
	return out.String(), err
}

// again is the command that runs the failing input once more.
func (r result) again() string {
	name := "^" + r.target + "$"
	if len(r.inputs) > 0 {
		name += "/^" + r.inputs[0] + "$"
	}
	return fmt.Sprintf("go test -run '%s' ./%s", name, r.suite.short)
}

// places are the files of the failing inputs, from the module's folder.
func (r result) places() (files []string) {
	for _, name := range r.inputs {
		files = append(files, path.Join(r.suite.short, "testdata/fuzz", r.target, name))
	}
	return files
}
