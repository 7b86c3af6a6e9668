package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/agent"
	"jp/agent/repo"
	"jp/cmd/jp/internal/console"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// Options say how the person came here.
type Options struct {
	ID      string        // the word for a conversation; "" for the session's
	Request agent.Request // what each request has, but for its text
}

// A chat is one person at one terminal.
type chat struct {
	env     *ui.Env
	options Options
	console *console.Console
	texts   chan string   // that the person has entered
	left    chan struct{} // closed when the person leaves
	leave   sync.Once
	draft   *draft
	history history

	mu    sync.Mutex
	id    conversation.ID // "" until a new conversation has its first event
	run   context.Context // of the turn that runs; nil: none
	armed time.Time       // when Ctrl+C was typed in an empty line
}

// Run talks until the person leaves.
func Run(ctx context.Context, e *ui.Env, o Options) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	c := &chat{env: e, options: o, texts: make(chan string, 1), left: make(chan struct{})}
	overview, err := agent.OverviewOf(ctx, r, o.ID)
	if err == nil {
		c.id = overview.ID
		err = c.visit(r)
	}
	if err != nil {
		r.Close()
		return err
	}
	c.draft = newDraft(r.Own(), c.id)
	c.welcome(r, overview)
	if err := r.Close(); err != nil {
		return err
	}
	if c.console, err = console.Open(ctx, e.Palette(e.Stdout), c); err != nil {
		return err
	}
	e.Console = c.console
	c.offerDraft()
	err = c.talk(ctx)
	c.draft.flush()
	c.console.Close()
	e.Console = nil
	return err
}

// visit makes a conversation that was named the session's.
func (c *chat) visit(r *repo.Repo) error {
	if c.options.ID == "" || c.id == "" {
		return nil
	}
	return r.Session(c.env.Host).Use(c.id, c.env.Now())
}

// talk asks what the person enters, one text after the other.
func (c *chat) talk(ctx context.Context) error {
	for {
		select {
		case text := <-c.texts:
			if err := c.ask(ctx, text); err != nil {
				return err
			}
		case <-c.left:
			return nil
		case <-c.console.Gone():
			return repo.Interrupted(&turnloop.Interrupt{Signal: "SIGHUP"})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ask runs a turn. Its error is shown; only one of the terminal, or a signal, ends the conversation.
func (c *chat) ask(ctx context.Context, text string) error {
	c.draft.ask(text)
	c.show(text)
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	abort := c.env.Abort
	c.env.Abort = func(signal string) { cancel(&turnloop.Interrupt{Signal: signal}) }
	c.running(run)
	err := c.turn(run, text)
	c.idle()
	c.env.Abort = abort
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err != nil {
		ui.ReportProblem(ui.TypedFor(repo.ProblemOf(err), c.env), c.console, false, c.env.MessageColumns())
	}
	fmt.Fprintln(c.console)
	if unasked := c.draft.unasked(); unasked != "" {
		text := joined(unasked, c.console.Text())
		c.draft.change(text)
		c.console.SetText(text)
	}
	return nil
}

// show shows what was entered, where it stays.
func (c *chat) show(text string) {
	bold := c.env.Palette(c.env.Stdout).Bold
	lead := "> "
	for line := range strings.Lines(safetext.Clean(text)) {
		for row := range strings.Lines(terminal.Wrap(strings.TrimSuffix(line, "\n")+"\n", c.console.Width()-len(lead))) {
			fmt.Fprintln(c.console, lead+bold(strings.TrimSuffix(row, "\n")))
			lead = "  "
		}
	}
}

// turn asks in the conversation, which from then on is there.
func (c *chat) turn(ctx context.Context, text string) error {
	r, err := c.env.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	o := c.options.Request
	o.Text, o.ID, o.New = []string{text}, string(c.id), c.id == ""
	o.Quiet, o.Verbose = c.env.Quiet, c.env.Verbose
	return agent.Ask(ctx, r, o, &front{TerminalFront: c.env.Frontend(r, o), chat: c})
}

// running notes that a turn runs.
func (c *chat) running(run context.Context) {
	c.mu.Lock()
	c.run = run
	c.mu.Unlock()
	c.console.Busy(true)
}

// idle notes that none does.
func (c *chat) idle() {
	c.mu.Lock()
	c.run = nil
	c.mu.Unlock()
	c.console.Busy(false)
}

// became notes the conversation's id.
func (c *chat) became(id conversation.ID) {
	c.mu.Lock()
	other := id != "" && id != c.id
	if other {
		c.id = id
	}
	c.mu.Unlock()
	if other {
		c.draft.move(id)
		c.history.forget()
	}
}

// A front is jp's own front end, which tells the chat what becomes of its conversation.
type front struct {
	*ui.TerminalFront
	chat *chat
}

// Output implements [agent.Frontend].
func (f *front) Output(o agent.OutputOptions) agent.Output {
	return &output{f.TerminalFront.Output(o), f.chat}
}

type output struct {
	agent.Output
	chat *chat
}

// Recorded implements [agent.Output].
func (o *output) Recorded(events []*conversation.Event) {
	if slices.ContainsFunc(events, func(e *conversation.Event) bool { return e.Type() == conversation.TypeChatRequest }) {
		o.chat.draft.recorded()
	}
	o.Output.Recorded(events)
}

// Ended implements [agent.Output].
func (o *output) Ended(e agent.Ending) {
	o.Output.Ended(e)
	o.chat.became(e.ID)
}
