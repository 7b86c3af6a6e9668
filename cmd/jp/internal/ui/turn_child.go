package ui

import (
	"jp/agent"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// A childOutput shows, beside what is said of the parent's turn, that a child
// begins and what its tools come to. What the child says is for its parent.
type childOutput struct {
	*statusWriter
	id     conversation.ID
	silent bool // programs read the child's own events
}

// childOutput shows a child beside its parent's turn, which has the live line.
func (e *Env) childOutput(id conversation.ID, live *liveLine) *childOutput {
	return &childOutput{
		statusWriter: &statusWriter{env: e, palette: e.Palette(e.Stderr), live: live}, id: id, silent: e.Format.Structured(),
	}
}

// Working shows what the child does in the live line.
func (o *childOutput) Working(a turnloop.Activity) { o.live.working(o.id, a) }

// Begin names the child, and its model.
func (o *childOutput) Begin(r agent.RunInfo) {
	if r.Turn == 0 {
		o.line("", "▸ "+string(o.id)+" · "+problem.OneLine(r.Model))
	}
}

// Resumed names the child, and says what was found of its turn.
func (o *childOutput) Resumed(words string, _ *conversation.IncompleteTurn) {
	o.line("", "▸ "+string(o.id)+" · "+problem.OneLine(words))
}

// line says something of the child, behind its name.
func (o *childOutput) line(mark, text string) {
	if !o.silent {
		o.say("%s%s", mark, o.palette.Dim(safetext.Clean(text)))
	}
}

// Recorded says what the child's tools came to.
func (o *childOutput) Recorded(events []*conversation.Event) {
	o.live.recorded(o.id, events)
	for _, e := range events {
		if e.Type() == conversation.TypeToolCallResponse || e.Type() == conversation.TypeWorkspace {
			o.line("  "+o.palette.Dim(o.id.Short())+" "+endMark(o.palette, e)+" ", e.Subject)
		}
	}
}

// Streamed shows nothing.
func (o *childOutput) Streamed(turnloop.Delta) {}

// Ended says nothing: its parent does.
func (o *childOutput) Ended(agent.Ending) {}
