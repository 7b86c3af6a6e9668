package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"jp/agent"
	"jp/agent/action"
	"jp/agent/problem"
	"jp/agent/snapshot"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// output chooses how a run is shown.
func (e *Env) output(o agent.OutputOptions) agent.Output {
	chrome := &statusWriter{env: e, palette: e.Palette(e.Stderr), live: e.liveLine()}
	switch {
	case e.Format.Structured():
		return &JsonlOutput{Env: e, partial: o.Partial}
	case IsTerminal(e.Stdout) && e.Format != FormatText:
		return &screenOutput{statusWriter: chrome}
	}
	return &pipeOutput{statusWriter: chrome}
}

// A statusWriter writes the progress of a turn to stderr, beside the answer.
type statusWriter struct {
	env     *Env
	palette terminal.Palette
	run     agent.RunInfo
	id      conversation.ID
	started time.Time
	last    string          // tree of the turn's newest event
	steps   []treeStep      // what its tools changed
	leftOut snapshot.Unseen // and what no snapshot has of it
	first   bool
	before  func()    // called before each line; may be nil
	live    *liveLine // nil: what runs is not shown
	told    time.Time // when a tool's progress was told in a line
}

// A treeStep is one tree before tools changed files, and one after it.
type treeStep struct{ before, after string }

// Begin implements [output].
func (c *statusWriter) Begin(r agent.RunInfo) {
	c.run, c.id, c.started, c.first = r, r.ID, c.env.Now(), r.Fresh
	c.palette = c.env.Palette(c.env.Stderr) // the conversation has its say
}

// Resumed implements [output].
func (c *statusWriter) Resumed(words string, tail *conversation.IncompleteTurn) {
	c.first = false
	for _, e := range tail.Events {
		c.follow(e)
	}
	if approved := c.run.Approved(); approved != "" && !c.run.Approves {
		words += "; its tools are " + approved
	}
	c.say("%s", c.palette.Dim(safetext.Clean(problem.OneLine(words))))
}

func (c *statusWriter) say(format string, args ...any) {
	if !c.env.Quiet {
		if c.before != nil {
			c.before()
		}
		c.live.write(func() { fmt.Fprintf(c.env.Messages(), format+"\n", args...) })
	}
}

// progressLinesEvery is the time between two lines that say how far a tool is.
const progressLinesEvery = time.Second

// Working shows what runs: on a terminal in the live line; elsewhere, with -v, how far a tool
// says it is.
func (c *statusWriter) Working(a turnloop.Activity) {
	c.live.working("", a)
	if now := time.Now(); c.live == nil && c.env.Verbose && !c.env.Quiet && a.Progress != "" && !a.Over && now.Sub(c.told) >= progressLinesEvery {
		c.told = now
		fmt.Fprintln(c.env.Messages(), clean(a.Name+" · "+a.Progress))
	}
}

// record says what tools came to and follows the files.
func (c *statusWriter) record(events []*conversation.Event) {
	c.live.recorded("", events)
	for _, e := range events {
		c.follow(e)
		switch b := e.Body.(type) {
		case *conversation.TurnStart:
			c.steps, c.leftOut, c.started = nil, snapshot.Unseen{}, c.env.Now()
			c.head(e, b)
		case *conversation.ToolCallResponse:
			c.say("%s %s", endMark(c.palette, e), safetext.Clean(e.Subject))
			if b.IsError {
				c.failure(e, b)
			} else if b.Name == tool.Plan {
				for _, row := range planRows(b, c.env.MessageColumns()) {
					c.say("%s", row)
				}
			}
		case *conversation.Workspace:
			c.say("%s %s", c.palette.Dim("·"), safetext.Clean(e.Subject))
		case *conversation.Compaction:
			subject, _ := conversation.SubjectOf(e)
			c.say("%s %s", c.palette.Dim("·"), safetext.Clean(subject))
		}
	}
}

// follow notes what a tool changed; what others do to the files is not counted.
func (c *statusWriter) follow(e *conversation.Event) {
	c.leftOut.Follow(e)
	before := c.last
	c.last = e.Tree
	if before == "" || before == e.Tree || e.Type() != conversation.TypeToolCallResponse {
		return
	}
	if n := len(c.steps) - 1; n >= 0 && c.steps[n].after == before {
		c.steps[n].after = e.Tree
		return
	}
	c.steps = append(c.steps, treeStep{before, e.Tree})
}

// head is the line that says in which conversation, with which model and where
// the turn runs.
func (c *statusWriter) head(e *conversation.Event, b *conversation.TurnStart) {
	words := []string{string(c.id)}
	f, transient := c.run.ForkedFrom, c.run.Transient()
	switch {
	case transient && c.first:
		words[0] = "not recorded"
	case transient:
		words = append(words, fmt.Sprintf("turn %d", e.Turn), "not recorded")
	case f != nil:
		words = append(words, fmt.Sprintf("fork of %s@%d", f.ID.Short(), f.Seq), fmt.Sprintf("turn %d", e.Turn))
	case c.first:
		words = append(words, "new")
	default:
		words = append(words, fmt.Sprintf("turn %d", e.Turn))
		if c.run.Archived {
			words = append(words, "archived ("+action.Unarchive(c.id.Short()).String()+")")
		}
	}
	words = append(words, problem.OneLine(b.Model))
	if g := e.Git; g != nil && g.Head != "" {
		branch := g.Branch
		if branch == "" {
			branch = "detached"
		}
		words = append(words, branch+" "+g.Head[:min(7, len(g.Head))])
	}
	if c.run.Instructions != nil {
		if names := c.run.Instructions(); len(names) > 0 {
			words = append(words, instructionNames(names))
		}
	}
	c.say("%s", c.palette.Dim(problem.OneLine(strings.Join(words, " · "))))
}

// instructionNames are the names of files of instructions, the nearest ones where they are many.
func instructionNames(names []string) string {
	const most = 4
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[n:], fmt.Sprintf(" and %d more", n)
	}
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = safetext.Show(name)
	}
	return strings.Join(shown, ", ") + more
}

// foot is the line that sums the turn up.
func (c *statusWriter) foot(e agent.Ending) {
	o := e.Outcome
	words := []string{fmt.Sprintf("turn %d", o.Turn), conversation.Ago(c.env.Now().Sub(c.started))}
	if o.Usage.Input+o.Usage.Output > 0 {
		in := conversation.Tokens(o.Usage.Input) + " in"
		if o.Usage.CacheRead > 0 {
			in += fmt.Sprintf(" (%d %% cached)", o.Usage.CacheRead*100/max(1, o.Usage.Input))
		}
		words = append(words, in+", "+conversation.Tokens(o.Usage.Output)+" out")
	}
	if o.Usage.CostUSD != "" {
		words = append(words, conversation.Dollars(o.Usage.CostUSD))
	}
	if e.Window > 0 && e.Tokens > 0 {
		words = append(words, conversation.PartOf(e.Tokens, e.Window))
	}
	if files := c.changes(); files != "" {
		words = append(words, files)
	}
	if r := c.run; r.Approved != nil && !r.Approves { // who has just said it knows it
		if approved := r.Approved(); approved != "" {
			words = append(words, approved)
		}
	}
	switch {
	case o.Status == turnloop.Length && o.ContextFull && !o.Empty:
		ways := []string{"make room (" + action.Compact(c.id.Short()).String() + ")", "ask a model that can read more (-m)"}
		if n := min(3, o.Turn-1); n > 0 && c.run.Recorded {
			ways = append(ways, "fork the conversation with fewer turns ("+action.ForkLast(c.run.ID.Short(), problem.Itoa(n)).String()+")")
		}
		c.say("The answer was cut off: with it the conversation fills the context of the model. What helps: %s.", strings.Join(ways, ", or "))
	case o.Status == turnloop.Length && !o.Empty:
		c.say("The answer was cut off: it reached the most tokens that one answer may have (parameters.max_tokens).")
	}
	c.say("%s", c.palette.Dim(strings.Join(words, " · ")))
}

// changes sums up what the tools changed, and says nothing where no one looks.
func (c *statusWriter) changes() string {
	if c.run.Snapshots == nil || !c.run.Snapshots() {
		return ""
	}
	paths, added, deleted := map[string]bool{}, 0, 0
	for _, s := range c.steps {
		changes, err := c.run.Changed(s.before, s.after)
		if err != nil {
			return "files changed"
		}
		for _, ch := range changes {
			paths[ch.Path] = true
			added, deleted = added+max(0, ch.Added), deleted+max(0, ch.Deleted)
		}
	}
	text := conversation.Count(len(paths), "file") + " " + conversation.PlusMinus(added, deleted)
	switch {
	case len(paths) == 0 && c.leftOut.None():
		return "no files changed"
	case len(paths) == 0:
		text = "no files recorded"
	}
	if !c.leftOut.None() {
		text += " · changed, but in no snapshot: " + c.leftOut.Words(3, false)
	}
	if len(c.leftOut.Found) > 0 {
		text += " · in no snapshot as it was before, so all of it is counted: " + c.leftOut.FoundWords(3)
	}
	return text
}

// Detached prints the id, for scripts, and says how to look at it.
func (c *statusWriter) Detached(d agent.DetachedJSON) {
	fmt.Fprintln(c.env.Results(), d.Conversation)
	c.say("%s", c.palette.Dim(fmt.Sprintf("goes on in the background (pid %d) · %s", d.PID, action.Attach(d.Conversation.Short()))))
}

// Noticed prints a line for the user.
func (c *statusWriter) Noticed(text string) { c.say("%s", c.palette.Yellow(safetext.Clean(text))) }

// A pipeOutput writes the final message, or the data, to stdout. Who reads it may be
// a terminal in the end: it is clean, as everywhere; --json has it as it was said.
type pipeOutput struct{ *statusWriter }

// Recorded says what tools came to, and earlier messages of the turn.
func (p *pipeOutput) Recorded(events []*conversation.Event) {
	p.record(events)
	for _, e := range events {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part == conversation.PartMessage && b.Finish == "" && b.Text != "" {
			p.say("%s", safetext.Clean(b.Text))
		}
	}
}

// Streamed waits for the whole.
func (p *pipeOutput) Streamed(turnloop.Delta) {}

// Ended writes the message or the data.
func (p *pipeOutput) Ended(e agent.Ending) {
	p.live.close()
	o := e.Outcome
	switch {
	case len(o.Data) > 0:
		fmt.Fprintf(p.env.Results(), "%s\n", safetext.EscapeJSON(o.Data))
	case o.Message != "" && o.Status != turnloop.Incomplete && o.Status != turnloop.Waiting:
		fmt.Fprintf(p.env.Results(), "%s\n", safetext.Clean(strings.TrimRight(o.Message, "\n")))
	}
	if o.Turn > 0 {
		p.foot(e)
	}
}

// A screenOutput streams the answer to a terminal.
type screenOutput struct {
	*statusWriter
	mu      sync.Mutex  // held while the message is written
	message prose       // nil between messages
	shown   map[int]int // bytes of text shown, by seq
	call    int         // the model call that speaks
}

// Begin implements [output].
func (s *screenOutput) Begin(r agent.RunInfo) {
	s.statusWriter.Begin(r)
	s.shown = map[int]int{}
}

// Streamed prints text as it comes.
func (s *screenOutput) Streamed(d turnloop.Delta) {
	if d.Part == conversation.PartMessage {
		s.listen(d.Call)
		s.print(d.Seq, d.At, d.Text)
	}
}

// listen follows a model call. What one said that broke off stays as it is, and
// the next one, which begins again, is shown below it.
func (s *screenOutput) listen(call int) {
	if call != s.call {
		s.closeMessage()
		clear(s.shown)
	}
	s.call = call
}

func (s *screenOutput) print(seq, at int, text string) {
	if s.shown[seq] != at {
		return // shown already
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.message == nil {
		s.live.cover(true)
		s.message = s.env.prose()
		s.before = s.hide
	}
	s.resize()
	s.shown[seq] += len(text)
	io.WriteString(s.message, text)
}

// Recorded prints what was not streamed, and what tools came to.
func (s *screenOutput) Recorded(events []*conversation.Event) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			s.response(e, b)
		case *conversation.ToolCallRequest, *conversation.ToolCallResponse:
			s.closeMessage()
		}
	}
	s.record(events)
}

func (s *screenOutput) response(e *conversation.Event, b *conversation.ChatResponse) {
	if b.Part != conversation.PartMessage {
		return
	}
	s.listen(b.Call)
	if n := s.shown[e.Seq]; n < len(b.Text) {
		s.print(e.Seq, n, b.Text[n:])
	}
	s.closeMessage()
}

// Noticed prints a line below what the model has said so far.
func (s *screenOutput) Noticed(text string) {
	s.closeMessage()
	s.statusWriter.Noticed(text)
}

// hide makes room for others who write to the terminal.
func (s *screenOutput) hide() { s.aside(func() {}) }

// leave makes room below what is shown: what a person has begun to read stays there.
func (s *screenOutput) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.message != nil {
		s.resize()
		_ = s.message.Leave() // the message itself says that the terminal is gone
	}
	s.live.hide()
}

// resize tells the message how large the terminal is.
func (s *screenOutput) resize() {
	s.message.Resize(s.env.Columns(s.env.Stdout), terminal.Rows(s.env.Stdout))
}

// aside lets another writer use the terminal. The block that the model is writing goes away
// before that, and comes back with its next word.
func (s *screenOutput) aside(text func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.message != nil {
		s.resize()
		_ = s.message.Hide() // the message itself says that the terminal is gone
	}
	s.live.write(text)
}

func (s *screenOutput) closeMessage() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.hide()
	if s.message != nil {
		s.resize()
		s.message.Close()
		s.message = nil
		s.live.cover(false)
	}
}

// Ended implements [output].
func (s *screenOutput) Ended(e agent.Ending) {
	s.closeMessage()
	s.live.close()
	if e.Outcome.Turn > 0 {
		s.foot(e)
	}
}
