package main

import (
	"context"
	"io"
	"slices"
	"sync"

	"jp/config"
	"jp/conversation"
	"jp/turnloop"
)

// A terminalFront is jp's own front end: a terminal, or pipes.
type terminalFront struct {
	env       *env
	repo      *repo
	transient bool // nothing of the turn is kept
	input     textInput

	piped  *string // what standard input had; nil until it is read
	client *client // nil until somebody can be asked
	screen *chrome // of the output, nil where it has none
	hide   func()  // makes room on the terminal; nil where nothing is in the way
	menu   *menu
}

// A textInput says what becomes of standard input.
type textInput struct {
	wait     bool // it is waited for without limit
	never    bool // it is never read
	attached bool // it is an attachment
}

var _ frontend = (*terminalFront)(nil)

// frontend is the front end of a query.
func (e *env) frontend(r *repo, o queryOptions) *terminalFront {
	return &terminalFront{
		env: e, repo: r, transient: o.noPersist,
		input: textInput{wait: o.stdin, never: o.noStdin, attached: slices.Contains(o.attachments, fromStdin)},
	}
}

// Output implements [frontend].
func (f *terminalFront) Output(o outputOptions) output {
	out := f.env.output(o)
	switch o := out.(type) {
	case *screenOutput:
		f.screen, f.hide = o.chrome, o.hide
	case *pipeOutput:
		f.screen = o.chrome
	}
	return &gated{out, f}
}

// Child implements [frontend].
func (f *terminalFront) Child(id conversation.ID) output { return &gated{f.env.childOutput(id), f} }

// Configured implements [frontend].
func (f *terminalFront) Configured(style config.Style) { f.env.style = style }

// Progress implements [frontend].
func (f *terminalFront) Progress() func(turnloop.Progress) {
	if f.screen == nil {
		return nil
	}
	var gate *sync.Mutex
	if f.client != nil {
		gate = &f.client.gate
	}
	p := newToolProgress(f.env, gate)
	if p == nil {
		return nil
	}
	f.screen.showTools(p)
	return p.tell
}

// Running lets Ctrl+C open a menu.
func (f *terminalFront) Running(turn interruptible, transient bool) {
	if f.client == nil {
		return
	}
	f.menu = &menu{tty: f.client.tty, loop: turn, now: f.env.now, abort: f.env.abort, gate: &f.client.gate, transient: transient, clear: f.hide}
	take := f.menu.interrupt
	f.env.onInterrupt.Store(&take)
}

// Over gives the signals back.
func (f *terminalFront) Over() {
	f.env.onInterrupt.Store(nil)
	f.env.onSuspend.Store(nil)
	if f.menu != nil {
		f.menu.done.Wait()
	}
}

// OnSuspend implements [frontend].
func (f *terminalFront) OnSuspend(flush func()) { f.env.onSuspend.Store(&flush) }

// Abort implements [frontend].
func (f *terminalFront) Abort(signal string) { f.env.abort(signal) }

// User implements [frontend].
func (f *terminalFront) User() user {
	if f.client = openClient(f); f.client == nil {
		return nil
	}
	return f.client
}

// CanWrite implements [frontend].
func (f *terminalFront) CanWrite() bool { return isTerminal(f.env.stdin) }

// CanEdit implements [frontend].
func (f *terminalFront) CanEdit() bool { return isTerminal(f.env.stdin) && isTerminal(f.env.stderr) }

// Edit implements [frontend].
func (f *terminalFront) Edit(ctx context.Context, dir, path string) error {
	return f.env.editor(ctx, dir, path)
}

// Input implements [frontend].
func (f *terminalFront) Input() io.Reader { return f.env.stdin }

// Attaches implements [frontend].
func (f *terminalFront) Attaches() bool {
	return !f.env.format.structured() && isTerminal(f.env.stdout)
}

// Attach implements [frontend].
func (f *terminalFront) Attach(ctx context.Context, id conversation.ID) error {
	return runAttach(ctx, f.env, attachOptions{tail: -1, after: -1}, string(id))
}
