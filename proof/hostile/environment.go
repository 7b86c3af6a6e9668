package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"jp/proof/prooftool"
)

// An environment is the place of the attacks: one jp, many folders.
type environment struct {
	dir      string
	program  string
	git      string // its version
	quick    bool
	commands []command
}

// newField builds jp and asks it for its commands.
func newField(ctx context.Context, dir string, quick bool) (*environment, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	f := &environment{dir: dir, program: filepath.Join(dir, "jp"), quick: quick}
	if err := prooftool.BuildJP(ctx, f.program, os.Environ()); err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask git for its version: %w", err)
	}
	f.git = string(bytes.TrimSpace(bytes.Replace(version, []byte(" version"), nil, 1)))
	f.commands, err = f.allCommands(ctx, nil)
	return f, err
}

// sample is the value of $QUICK for attack scripts: non-empty in a shorter run.
func (f *environment) sample() string {
	if f.quick {
		return "yes"
	}
	return ""
}

// closed is the exit code by which a control says that git has closed the way.
const closed = 77

// try has one attack made on a program without the defence, and then on jp.
func (f *environment) try(ctx context.Context, a attack, number int) row {
	r := row{attack: a}
	dir := filepath.Join(f.dir, a.name)
	defer os.RemoveAll(dir)
	control, err := f.newPlace(ctx, a, filepath.Join(dir, "control"))
	if err != nil {
		r.err = err
		return r
	}
	defer control.Close()
	if r.control, r.err = control.control(ctx); r.err != nil {
		return r
	}
	p, err := f.newPlace(ctx, a, filepath.Join(dir, "jp"))
	if err != nil {
		r.err = err
		return r
	}
	defer p.Close()
	v := &trial{place: p, row: &r, number: number}
	r.err = v.all(ctx)
	return r
}

// control runs the attack's control, and says how it showed that the attack works.
func (p *hostileRepo) control(ctx context.Context) (string, error) {
	out, code, err := p.script(ctx, "control.sh")
	if err != nil {
		return "", fmt.Errorf("control.sh: %w", err)
	}
	signs := p.watch.signs(out, false)
	switch {
	case len(signs) > 0:
		return "yes", nil
	case code == closed:
		return "closed by " + p.field.git, nil
	}
	return "", fmt.Errorf("%w: control.sh: exit %d: %s", errNoTest, code, out)
}
