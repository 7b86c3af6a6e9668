package ui

import (
	"context"
	"io"
	"slices"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/agent/live"
	"jp/agent/repo"
	"jp/config"
	"jp/conversation"
)

// A TerminalFront is jp's own front end: a terminal, or pipes.
type TerminalFront struct {
	Env       *Env
	Repo      *repo.Repo
	transient bool // nothing of the turn is kept
	queue     *live.Queue
	input     textInput
	about     conversation.ID // that the person is asked about

	piped  *string   // the text of standard input; nil until it is read
	client *client   // nil until the user can be asked
	live   *liveLine // or nil
	room   func()    // makes room on the terminal
	menu   *menu
	notify *notifier // nil: no notifications
}

// A textInput is the use of standard input.
type textInput struct {
	wait     bool // it is waited for without limit
	never    bool // it is never read
	attached bool // it is an attachment
}

var _ agent.Frontend = (*TerminalFront)(nil)

// Frontend is the front end of a query.
func (e *Env) Frontend(r *repo.Repo, o agent.Request) *TerminalFront {
	return &TerminalFront{
		Env: e, Repo: r, transient: o.NoPersist, queue: o.Turn.Queue,
		input: textInput{wait: o.Input.Stdin, never: o.Input.NoStdin, attached: slices.Contains(o.Input.Attachments, contextfiles.FromStdin)},
	}
}

// Output implements [frontend].
func (f *TerminalFront) Output(o agent.OutputOptions) agent.Output {
	out := f.Env.output(o)
	if t, ok := out.(*Turn); ok {
		f.live, f.room = t.live, t.leave
		aside := t.aside
		f.Env.beside.Store(&aside)
	}
	return &gated{out, f, true}
}

// About sets the conversation that the person is asked about, "" for one that jp does not keep. Text
// that they type at its prompts and cannot send is kept for it.
func (f *TerminalFront) About(id conversation.ID) {
	f.about = id
	if f.client != nil {
		f.client.tty.KeepUnsent(live.Unsent{Dir: f.Repo.StateDir(), ID: id})
	}
}

// Child implements [frontend].
func (f *TerminalFront) Child(id conversation.ID) agent.Output {
	return &gated{f.Env.newTurn(f.live, id), f, false}
}

// Configured implements [frontend].
func (f *TerminalFront) Configured(style config.Style) { f.Env.Style = style }

// Running lets Ctrl+C open a menu. In a chat Esc does so, with any text in the line.
func (f *TerminalFront) Running(turn agent.Interruptible, transient bool) {
	if f.client == nil {
		return
	}
	if f.live != nil {
		f.live.gate, f.live.hint = &f.client.gate, "Ctrl+C menu"
		if f.Env.Console != nil {
			f.live.hint = "Esc menu"
		}
	}
	f.menu = &menu{client: f.client, tty: f.client.direct(), loop: turn, now: f.Env.Now, abort: f.Env.Abort, gate: &f.client.gate, transient: transient, clear: f.room, queue: f.queue, line: f.Env.Console}
	take := f.menu.interrupt
	f.Env.onInterrupt.Store(&take)
}

// Over gives the signals back.
func (f *TerminalFront) Over() {
	f.Env.onInterrupt.Store(nil)
	f.Env.onSuspend.Store(nil)
	if f.menu != nil {
		f.menu.done.Wait()
	}
}

// OnSuspend implements [frontend].
func (f *TerminalFront) OnSuspend(flush func()) { f.Env.onSuspend.Store(&flush) }

// Abort implements [frontend].
func (f *TerminalFront) Abort(signal string) { f.Env.Abort(signal) }

// User implements [frontend].
func (f *TerminalFront) User() agent.User {
	if f.client = OpenClient(f); f.client == nil {
		return nil
	}
	return f.client
}

// CanWrite implements [frontend].
func (f *TerminalFront) CanWrite() bool { return IsTerminal(f.Env.Stdin) }

// CanEdit implements [frontend].
func (f *TerminalFront) CanEdit() bool { return IsTerminal(f.Env.Stdin) && IsTerminal(f.Env.Stderr) }

// Edit implements [frontend].
func (f *TerminalFront) Edit(ctx context.Context, dir, path string) error {
	return f.Env.editor(ctx, dir, path)
}

// Input implements [frontend].
func (f *TerminalFront) Input() io.Reader { return f.Env.Stdin }

// Attaches implements [frontend].
func (f *TerminalFront) Attaches() bool {
	return !f.Env.Format.Structured() && IsTerminal(f.Env.Stdout)
}

// Attach implements [frontend].
func (f *TerminalFront) Attach(ctx context.Context, id conversation.ID) error {
	if console := f.Env.Console; console != nil {
		defer console.Suspend()()
		f.Env.Console = nil
		defer func() { f.Env.Console = console }()
	}
	return RunAttach(ctx, f.Env, AttachOptions{Tail: -1, After: -1}, string(id))
}
