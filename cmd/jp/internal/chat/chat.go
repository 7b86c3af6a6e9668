package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/console"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/turnloop"
)

// Options are the way in which the person came here.
type Options struct {
	ID      string                 // the word for a conversation; "" for the session's
	Last    bool                   // the conversation that was used last in this working tree
	Choose  bool                   // the person chooses the conversation
	Request agent.Request          // the options of each request, without its text
	Has     func(name string) bool // whether jp has a command; nil: it has all
}

// A chat is one person at one terminal.
type chat struct {
	env      *ui.Env
	dim      func(string) string
	options  Options
	console  line
	entries  chan console.Entry // that the person has entered
	tasks    chan task
	left     chan struct{} // closed when the person leaves
	leave    sync.Once
	plain    *plainLine // the console of a terminal on which nothing changes in place; else nil
	draft    *draft
	history  history
	settings settings
	bottom   bottomLine
	offers   offers
	complete completion
	ended    agent.Ending // of the last turn
	loaded   agent.HistoryCache
	next     *console.Entry // that was queued, and is a turn of its own

	queued   queued
	work     work
	double   doubleKeys
	opener   opener
	back     rewind
	pictures pictures
	others   elsewhere

	mu sync.Mutex
	id conversation.ID // "" until a new conversation has its first event
}

// Run talks until the person leaves.
func Run(ctx context.Context, e *ui.Env, o Options) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	c := &chat{env: e, dim: e.Palette(e.Stdout).Dim, options: o, entries: make(chan console.Entry, 1), tasks: make(chan task, 1), left: make(chan struct{}), draft: &draft{}}
	c.draft.pictures = &c.pictures
	action.InChat()
	c.settings.open(e.Dir, o.Request)
	c.offers.open(e, o.available())
	if c.options.ID, err = o.conversation(ctx, r, e); err != nil {
		r.Close()
		return err
	}
	overview, err := agent.OverviewOf(ctx, r, c.options.ID)
	if err == nil {
		c.id = overview.ID
		if c.options.ID != "" {
			err = c.takeSession(ctx, r)
		}
	}
	if err == nil && o.Request.Turn.Model != "" {
		err = agent.CheckModel(ctx, r, o.Request.Turn.Model)
	}
	if err == nil {
		err = agent.CheckTools(r, slices.Concat(o.Request.Tools.Enable, o.Request.Tools.Disable)...)
	}
	if err != nil {
		r.Close()
		return err
	}
	c.open(ctx, r)
	if c.id == "" && c.draft.current() == "" {
		if err := agent.RequireModel(ctx, r, o.Request); err != nil {
			r.Close()
			return err
		}
	}
	c.bottom.open(ctx, r, overview, o.Request)
	overview.Others = agent.NamedOnce(r, overview.Others)
	if ui.Redraws(e.Style, e.Get("TERM")) { // a chat that was killed leaves rows below its line
		fmt.Fprint(e.Stdout, terminal.ClearDown)
	}
	c.welcome().show(r, overview)
	if inBackground(r, c.id) {
		c.later(taskFollow)
	}
	if err := r.Close(); err != nil {
		return err
	}
	if err := c.sit(ctx); err != nil {
		e.Console = nil
		return err
	}
	err = c.talk(ctx)
	c.draft.flush()
	if c.settings.hasOutput() {
		fmt.Fprintln(c.console, c.dim(terminal.Wrap("The output of your last commands was not sent, and is dropped.", c.console.Width())))
	}
	c.console.Close()
	e.Console = nil
	return err
}

// conversation is the word for the conversation to go on in.
func (o Options) conversation(ctx context.Context, r *repo.Repo, e *ui.Env) (string, error) {
	if (o.Last || o.Choose) && o.ID != "" {
		return "", problem.Usage("name a conversation, or use --last or --choose; not both.")
	}
	var id conversation.ID
	var err error
	switch {
	case o.Last:
		id, err = r.Find().LastHere(ctx)
	case o.Choose:
		id, err = r.Find().Pick(ctx, e.Host)
	default:
		return o.ID, nil
	}
	return string(id), err
}

// sit takes the terminal: with a line in which the person goes on typing, or with plain ones. The line begins
// with the draft.
func (c *chat) sit(ctx context.Context) error {
	e := c.env
	start := func() error { return nil }
	if ui.Redraws(e.Style, e.Get("TERM")) {
		screen, err := console.Open(e.Palette(e.Stdout), c)
		if err != nil {
			return err
		}
		if e.Palette(e.Stdout).On() && e.Get("TERM") != "linux" {
			screen.Background = func(t terminal.Theme) { e.Background.Store(int32(t)) }
		}
		c.console, e.Console = screen, screen
		start = func() error { return screen.Start(ctx) }
	} else {
		c.plain = &plainLine{env: e, gone: make(chan struct{})}
		c.console = c.plain
	}
	c.complete.offers, c.complete.line, c.complete.dim = &c.offers, c.console, c.dim
	c.showBottom()
	c.console.SetText(c.draft.current())
	return start()
}

// open takes the text that an earlier process kept of the conversation: a draft, and queued messages,
// which become a draft.
func (c *chat) open(ctx context.Context, r *repo.Repo) {
	c.draft.open(r.StateDir(), c.id)
	queue := live.NewQueue(r.StateDir(), c.id)
	if left := agent.LeftInQueue(ctx, r, c.id, queue); len(left) > 0 {
		text := strings.Join(left, "\n\n")
		if draft := c.draft.current(); draft != left[len(left)-1] { // else it was about to be queued
			text = joined(text, draft)
		}
		c.draft.change(text)
		c.draft.flush()
	}
	queue.Clear()
	c.queued.open(queue)
}

// talk runs the person's entries, one after the other.
func (c *chat) talk(ctx context.Context) error {
	for {
		if e := c.next; e != nil {
			c.next = nil
			c.afterwards(ctx, c.enter(ctx, *e))
			continue
		}
		if c.plain != nil && len(c.tasks) == 0 {
			if err := c.plain.read(ctx, c); err != nil {
				return err
			}
		}
		c.others.watch(ctx, c)
		select {
		case <-c.others.news:
			c.others.look(ctx, c)
		case e := <-c.entries:
			c.afterwards(ctx, c.enter(ctx, e))
		case what := <-c.tasks:
			if err := c.perform(ctx, what); err != nil {
				c.afterwards(ctx, err)
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

// enter runs a command, or a turn.
func (c *chat) enter(ctx context.Context, e console.Entry) error {
	if to := c.back.end(); to != nil {
		if gone, err := c.goBefore(ctx, *to, e.Text); !gone || err != nil {
			return err
		}
	}
	if c.plain == nil || e.Pasted(0) { // else it stands there as it was typed
		c.env.Entered(c.console, c.console.Width(), e.Text)
	}
	c.opener.again()
	defer c.offers.forget()
	if line, told, is := ownCommand(e); is {
		c.draft.entered(e.Text)
		given, err := runOwn(ctx, ui.Self{Env: c.env}, c.console, line, told)
		c.settings.give(given...)
		return err
	}
	if line, is := jpLine(e, c.options.Has); is {
		c.draft.ask(e.Text)
		key, err := runsLine(ctx, c.console)
		if err == nil && key == 'y' {
			c.draft.recorded()
			_, err = ui.Self{Env: c.env}.Shell(ctx, line, nil)
		}
		if err != nil || key != 'n' {
			return err
		}
	}
	command, words, is := c.offers.command(e.Text)
	is = is && !e.Pasted(0)
	if is && !command.asks() {
		c.draft.entered(e.Text)
		return c.do(ctx, command, words)
	}
	c.draft.ask(e.Text)
	files, err := c.mentioned(ctx, e)
	if err != nil {
		return err
	}
	text := e.Text
	o := c.request(agent.AcceptsPlan(text))
	c.settings.begin(&o)
	c.showBottom()
	switch {
	case is && command.prompt != nil:
		asked := *command.prompt
		text = strings.TrimSpace(text)
		asked.Words = strings.TrimSpace(strings.TrimPrefix(text, "/"+command.name))
		o.Input.Prompt = &asked
	case is:
		o.Input.Skills = append(slices.Clone(o.Input.Skills), command.name)
		if text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "/"+command.name)); text == "" {
			text = "Use the skill " + command.name + "."
		}
	}
	o.Input.Text, o.Input.Attachments, o.Turn.Queue = []string{text}, append(o.Input.Attachments, files...), c.queued.messages()
	o.Input.Given = append(o.Input.Given, c.pictures.in(e.Text)...)
	o.Resume.GoOn = !is
	return c.turn(ctx, o)
}

// request is the person's next one, without its text. A new conversation asks the model of the bottom line.
func (c *chat) request(goOn bool) agent.Request {
	o := c.settings.next(goOn)
	if o.Target.ID, o.Target.New = string(c.id), c.id == ""; o.Target.New {
		o.Turn.Model = c.bottom.asks()
	}
	return o
}

// afterwards goes on with a queued message if the turn is complete. Else the person can edit it and
// any entry that was not asked.
func (c *chat) afterwards(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		ui.ReportProblem(ui.TypedFor(repo.ProblemOf(err), c.env), c.console, false, c.env.MessageColumns())
	}
	fmt.Fprintln(c.console)
	unasked := c.draft.unasked()
	if unasked == "" && err == nil {
		if c.ended.Outcome.Status == turnloop.Complete {
			if waiting := c.queued.messages().Waiting(); len(waiting) > 0 {
				text := waiting[0].Text
				c.draft.ask(text) // before it leaves the queue: a kill may come in between
				c.queued.messages().First()
				c.queued.show(c.console, c.dim)
				c.history.add(text)
				c.next = &console.Entry{Text: text, Pasted: func(int) bool { return true }}
				return
			}
		}
	}
	for _, m := range c.queued.messages().Waiting() {
		unasked = joined(unasked, m.Text)
	}
	if unasked != "" {
		text := joined(unasked, c.console.Text())
		c.draft.change(text)
		c.draft.flush()
		c.console.SetText(text)
	}
	c.queued.messages().Clear()
	c.queued.show(c.console, c.dim)
}

func (c *chat) turn(ctx context.Context, o agent.Request) error {
	return c.ask(ctx, o, func(ctx context.Context, r *repo.Repo, o agent.Request) error {
		return agent.Ask(ctx, r, o, &front{TerminalFront: c.env.Frontend(r, o), chat: c})
	})
}

// ask runs a turn. Only a signal, or the loss of the terminal, ends more than that.
func (c *chat) ask(ctx context.Context, o agent.Request, run func(context.Context, *repo.Repo, agent.Request) error) error {
	c.ended = agent.Ending{}
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	abort := c.env.Abort
	defer func() { c.env.Abort = abort }()
	c.env.Abort = func(signal string) { cancel(&turnloop.Interrupt{Signal: signal}) }
	c.work.begin(working)
	defer c.work.end()
	o.Show.Quiet, o.Show.Verbose = c.env.Quiet, c.env.Verbose
	o.Turn.History = &c.loaded
	return c.withRepo(working, func(ctx context.Context, r *repo.Repo) error { return run(ctx, r, o) })
}

// switchTo goes on in another conversation, "" for a new one. The typed text goes along.
func (c *chat) switchTo(ctx context.Context, r *repo.Repo, id conversation.ID) {
	c.draft.change("") // the line goes along, also one that is typed meanwhile
	c.draft.flush()
	c.mu.Lock()
	c.id = id
	c.mu.Unlock()
	c.opener.about("")
	c.history.forget()
	c.open(ctx, r)
	c.console.SetText(joined(c.draft.current(), c.console.Text()))
}

// A front is jp's own front end, which tells the chat about events of its conversation.
type front struct {
	*ui.TerminalFront
	chat *chat
}

// Output implements [agent.Frontend].
func (f *front) Output(o agent.OutputOptions) agent.Output {
	return &output{Output: f.TerminalFront.Output(o), chat: f.chat}
}

type output struct {
	agent.Output
	chat    *chat
	id      conversation.ID // of the run
	resumed bool            // it has gone on with a turn
}

// Resumed implements [agent.Output].
func (o *output) Resumed(words string, tail *conversation.IncompleteTurn) {
	o.resumed = true
	o.Output.Resumed(words, tail)
}

// Recorded implements [agent.Output].
func (o *output) Recorded(events []*conversation.Event) {
	for _, e := range events {
		if b, is := e.Body.(*conversation.ChatRequest); is {
			o.request(b)
		}
		o.chat.bottom.begun(e)
		o.chat.showBottom()
		o.Output.Recorded([]*conversation.Event{e})
	}
}

// request is for words of the person's that are recorded now. It shows them, except for the line that
// was entered last: that stands right above, unless a turn was resumed before it.
func (o *output) request(b *conversation.ChatRequest) {
	c := o.chat
	begins := !b.Interrupt && b.Replaces == nil
	entered := begins || c.draft.asks(b.Content)
	if entered {
		c.draft.recorded()
	}
	c.opener.about(o.id)
	c.draft.move(o.id) // there is such a conversation from here on
	c.settings.asked()
	c.queued.show(c.console, c.dim)
	if c.plain == nil && (!entered || begins && o.resumed) {
		c.env.Entered(c.console, c.console.Width(), b.Content)
		fmt.Fprintln(c.console)
	}
}

// Begin implements [agent.Output].
func (o *output) Begin(r agent.RunInfo) {
	o.id = r.ID
	o.chat.queued.messages().Of(r.ID)
	o.Output.Begin(r)
}

// Ended implements [agent.Output].
func (o *output) Ended(e agent.Ending) {
	o.Output.Ended(e)
	c := o.chat
	c.ended = e
	if e.ID != "" && e.ID != c.id {
		c.mu.Lock()
		c.id = e.ID
		c.mu.Unlock()
		c.draft.move(e.ID)
		c.history.forget()
	}
	c.bottom.ended(e)
	c.showBottom()
}
