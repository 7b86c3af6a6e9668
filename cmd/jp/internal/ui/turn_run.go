package ui

import (
	"fmt"
	"strings"
	"time"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
	"jp/undo"
)

var _ agent.Output = (*Turn)(nil)

// output chooses the output of a run.
func (e *Env) output(o agent.OutputOptions) agent.Output {
	if e.Format.Structured() {
		return &JsonlOutput{Env: e, partial: o.Partial}
	}
	t := e.newTurn(e.liveLine(), "")
	t.beside = o.Beside
	return t
}

// atEnd reports whether the answer is printed when the turn has ended. A terminal may be the last
// reader, so the text is clean, as everywhere. --json has it unchanged.
func (t *Turn) atEnd() bool {
	return t.view == nil && (!IsTerminal(t.env.Stdout) || t.env.Format == FormatText)
}

// Begin implements [agent.Output]. Of a delegate it names the conversation and the model.
func (t *Turn) Begin(r agent.RunInfo) {
	t.run, t.started = r, t.env.Now()
	t.palette = t.env.Palette(t.env.Stderr) // the conversation's configuration counts
	if t.child != "" && r.Turn == 0 {
		t.ofChild("▸ "+string(t.child)+" · "+problem.OneLine(r.Model), "")
	}
}

// Resumed implements [agent.Output].
func (t *Turn) Resumed(words string, tail *conversation.IncompleteTurn) {
	words = tool.Resumed(words)
	if t.child != "" {
		t.ofChild("▸ "+string(t.child)+" · "+problem.OneLine(words), "")
		return
	}
	t.run.Fresh = false
	for _, e := range tail.Events {
		t.changed.follow(e)
		t.record.follow(e)
	}
	if approved := t.run.Approved(); approved != "" && !t.run.Approves {
		words += "; its tools are " + approved
	}
	t.say(t.palette.Dim(safetext.Clean(problem.OneLine(words))))
}

// Recorded implements [agent.Output]. Of a delegate it prints the results of tools.
func (t *Turn) Recorded(events []*conversation.Event) {
	t.live.recorded(t.child, events)
	for _, e := range events {
		if e.Type() == conversation.TypeToolCallRequest {
			t.live.sayThought(t.say, t.palette.Dim)
		}
		t.changed.follow(e)
		t.record.follow(e)
		words := e.Subject
		if b, ok := e.Body.(*conversation.ToolCallResponse); ok {
			words = tool.Done(b.Name, words)
		}
		switch kind := e.Type(); {
		case t.child == "":
			t.event(e)
		case kind == conversation.TypeToolCallResponse || kind == conversation.TypeWorkspace:
			t.ofChild(words, "  "+t.palette.Dim(t.child.Short())+" "+endMark(t.palette, e)+" ")
		}
	}
}

// ofChild prints a line of a delegate. Programs read its own events.
func (t *Turn) ofChild(words, lead string) {
	if !t.env.Format.Structured() {
		t.say(lead + t.palette.Dim(safetext.Clean(words)))
	}
}

// Streamed prints text as it comes.
func (t *Turn) Streamed(d turnloop.Delta) {
	if d.Part != conversation.PartMessage || t.child != "" || t.view != nil || t.atEnd() {
		return
	}
	t.listen(d.Call)
	t.live.sayThought(t.say, t.palette.Dim)
	if _, begun := t.message.shown[d.Seq]; !begun && d.At > 0 {
		t.say(t.palette.Dim("…(the beginning of this is not kept; " + action.PrintSession.String() + " has all of it when it is done)"))
		t.message.shown[d.Seq] = d.At
	}
	t.write(d.Part, d.Seq, d.At, d.Text)
}

// progressLinesEvery is the time between two lines about a tool's progress.
const progressLinesEvery = time.Second

// Working shows the turn's activity: on a terminal in the live line, elsewhere, with -v, a tool's own
// progress.
func (t *Turn) Working(a turnloop.Activity) {
	t.live.working(t.child, a)
	if now := time.Now(); t.live == nil && t.child == "" && t.env.Verbose && a.Progress != "" && !a.Over && now.Sub(t.told) >= progressLinesEvery {
		t.told = now
		t.say(safetext.OneLine(a.Name + " · " + a.Progress))
	}
}

// Noticed prints a line for the user below the answer so far.
func (t *Turn) Noticed(text string) {
	if t.view != nil {
		t.env.Note("%s", safetext.Clean(text))
		return
	}
	t.closeMessage()
	t.say(t.palette.Yellow(safetext.Clean(text)))
}

// Detached prints the id, for scripts, and the command that shows the turn.
func (t *Turn) Detached(d agent.DetachedJSON) {
	fmt.Fprintln(t.env.Results(), d.Conversation)
	t.say(t.palette.Dim(fmt.Sprintf("goes on in the background (pid %d) · %s", d.PID, action.Attach(d.Conversation.Short()))))
}

// Ended prints an answer that was not printed yet, and sums the turn up.
func (t *Turn) Ended(e agent.Ending) {
	if t.child != "" { // its parent reports it
		return
	}
	t.closeMessage()
	t.live.close()
	o := e.Outcome
	switch {
	case !t.atEnd():
	case len(o.Data) > 0:
		fmt.Fprintf(t.out, "%s\n", safetext.EscapeJSON(o.Data))
	case o.Message != "" && o.Status != turnloop.Incomplete && o.Status != turnloop.Waiting:
		fmt.Fprintf(t.out, "%s\n", safetext.Clean(strings.TrimRight(o.Message, "\n")))
	}
	if o.Turn > 0 {
		t.foot(e)
	}
}

// start begins a turn. The line of a running one names the conversation, the model and the place.
func (t *Turn) start(e *conversation.Event, b *conversation.TurnStart) {
	t.record.speaker = ""
	if t.view != nil {
		return
	}
	t.changed, t.started = changedFiles{last: t.changed.last}, t.env.Now()
	words := []string{string(t.run.ID)}
	f, transient := t.run.ForkedFrom, t.run.Transient()
	inChat := t.env.Console != nil && !t.env.Verbose // its bottom line says the model and the branch
	switch turn := fmt.Sprintf("turn %d", e.Turn); {
	case transient && t.run.Fresh:
		words[0] = "not recorded"
	case transient:
		words = append(words, turn, "not recorded")
	case f != nil:
		words = append(words, fmt.Sprintf("fork of %s@%d", f.ID.Short(), f.Seq), turn)
	case t.run.Fresh && inChat:
	case t.run.Fresh:
		words = append(words, "new")
	case t.beside:
		words[0] = "beside the conversation"
	case t.run.Archived:
		words = append(words, turn, "archived ("+action.Unarchive(t.run.ID.Short()).String()+")")
	case inChat:
		t.say("")
		return
	default:
		words = append(words, turn)
	}
	if !inChat {
		words = append(words, problem.OneLine(b.Model))
	}
	if g := e.Git; g != nil && g.Head != "" && !inChat {
		branch := g.Branch
		if branch == "" {
			branch = "detached"
		}
		words = append(words, branch+" "+g.Head[:min(7, len(g.Head))])
	}
	if t.run.Instructions != nil {
		if files := t.run.Instructions(); len(files) > 0 { // the nearest ones if they are many
			const most = 4
			var names []string
			for _, name := range files[max(0, len(files)-most):] {
				names = append(names, safetext.Show(name))
			}
			text := strings.Join(names, ", ")
			if more := len(files) - most; more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			words = append(words, text)
		}
	}
	t.say(t.palette.Dim(problem.OneLine(strings.Join(words, " · "))))
	if t.onScreen() {
		t.say("")
	}
}

// foot is the line that sums the turn up.
func (t *Turn) foot(e agent.Ending) {
	o, r := e.Outcome, t.run
	words := []string{fmt.Sprintf("turn %d", o.Turn), conversation.Ago(t.env.Now().Sub(t.started))}
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
	if r.Snapshots != nil && r.Snapshots() {
		words = append(words, t.changed.words(r, o.Turn))
	}
	if r.Approved != nil && !r.Approves { // the user has just said so
		if approved := r.Approved(); approved != "" {
			words = append(words, approved)
		}
	}
	switch {
	case o.Status == turnloop.Length && o.ContextFull && !o.Empty:
		ways := []string{"make room (" + action.Compact(r.ID.Short()).String() + ")", "ask a model that can read more (-m)"}
		if n := min(3, o.Turn-1); n > 0 && r.Recorded {
			ways = append(ways, "fork the conversation with fewer turns ("+action.ForkLast(r.ID.Short(), problem.Itoa(n)).String()+")")
		}
		t.say("The answer was cut off: with it the conversation fills the context of the model. What helps: " + strings.Join(ways, ", or ") + ".")
	case o.Status == turnloop.Length && !o.Empty:
		t.say("The answer was cut off: it reached the most tokens that one answer may have (parameters.max_tokens).")
	}
	t.say(t.palette.Dim(strings.Join(words, " · ")))
}

// changedFiles are the files that the tools of a turn changed.
type changedFiles struct {
	last    string          // tree of the newest event
	steps   [][2]string     // trees before and after tools
	leftOut snapshot.Unseen // those that no snapshot has
}

// follow notes the changes of a tool. Changes by others are not counted.
func (c *changedFiles) follow(e *conversation.Event) {
	c.leftOut.Follow(e)
	before := c.last
	c.last = e.Tree
	if before == "" || before == e.Tree || e.Type() != conversation.TypeToolCallResponse {
		return
	}
	if n := len(c.steps) - 1; n >= 0 && c.steps[n][1] == before {
		c.steps[n][1] = e.Tree
		return
	}
	c.steps = append(c.steps, [2]string{before, e.Tree})
}

// words sum the changes up.
func (c *changedFiles) words(r agent.RunInfo, turn int) string {
	paths, added, deleted := map[string]bool{}, 0, 0
	for _, s := range c.steps {
		changes, err := r.Changed(s[0], s[1])
		if err != nil {
			return "files changed"
		}
		for _, ch := range changes {
			paths[ch.Path] = true
			added, deleted = added+max(0, ch.Added), deleted+max(0, ch.Deleted)
		}
	}
	leftOut, undone := c.leftOut, ""
	if r.Outlook != nil {
		if o, err := r.Outlook(turn, len(c.leftOut.Unknown) > 0); err == nil && o != nil {
			for _, path := range o.Files {
				paths[path] = true
			}
			deleted += o.Lines
			c.leftOut.AddUnknown(o.Unknown...)
			leftOut, undone = leftOut.WithoutGone(o.Known), undoneWords(o, len(paths) > 0)
		}
	}
	text, unknown := conversation.Count(len(paths), "file")+" "+conversation.PlusMinus(added, deleted), c.leftOut.UnknownWords(5)
	if staged := leftOut.StagedWords(); staged != "" {
		undone += " · " + staged
	}
	switch {
	case len(paths) == 0 && leftOut.None() && unknown == "":
		return "no files changed" + undone
	case len(paths) == 0 && leftOut.None():
		return unknown + undone
	case len(paths) == 0:
		text = "no files recorded"
	}
	if !leftOut.None() {
		text += " · changed, but in no snapshot: " + leftOut.Words(3, false)
	}
	if len(leftOut.Found) > 0 {
		text += " · in no snapshot as it was before, so all of it is counted: " + leftOut.FoundWords(3)
	}
	if unknown != "" {
		text += " · " + unknown
	}
	return text + undone
}

// undoneWords name the changes of a turn that jp undo brings back, and the others. changed: the turn
// changed files.
func undoneWords(o *undo.Outlook, changed bool) string {
	var words []string
	if len(o.NoCopy) > 0 {
		words = append(words, "jp has no copy of "+snapshot.Some(o.NoCopy, 5))
	}
	if len(o.Named) > 0 && len(o.Named) <= 5 {
		words = append(words, "if they are not your own work, "+o.Restore.String()+" puts them back")
	} else {
		o.Left = append(o.Left, o.Named...)
	}
	if len(o.Left) > 0 {
		words = append(words, action.UndoTurn.String()+" leaves alone "+snapshot.Some(o.Left, 5))
	}
	switch {
	case len(words) > 0:
		return " · " + strings.Join(words, ", ")
	case changed:
		return " · " + action.UndoTurn.String() + " brings all back"
	}
	return ""
}
