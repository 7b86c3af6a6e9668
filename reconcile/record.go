package reconcile

import (
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// A Record is the state of an incomplete turn and of the files by a conversation's events.
type Record struct {
	Turn       int
	Call       int // ordinal of the newest model call, 0 if there is none
	Phase      conversation.Phase
	Ledger     *conversation.Ledger
	Place      conversation.Git // place of the turn: of its start, or of a later fork, resume or tool
	Last       Point            // at the newest event
	Unanswered []Span           // changes new to the model: behind the newest event of the dialogue, and in messages without an answer
	At         time.Time        // of the newest event of the turn itself
	Broken     string           // text of an answer that was broken off
	CutOff     bool             // an answer was cut off while it asked for tools, and the model does not know
	// LeftBehind are files, quoted, that no snapshot has. The working tree is newer, and therefore lacks them
	// or has their earlier content. Empty if the model knows.
	LeftBehind []string
	Said       *conversation.Resumed // message of an earlier resume that the model has not answered
}

// A Point is the state of the files and the repository at an event.
type Point struct {
	Tree string
	Git  conversation.Git
}

// A Span is a time in which a turn was interrupted. File changes in it are outside of the turn's results. The
// last span of a record lasts until now.
type Span struct{ From, To Point }

// Read gathers the facts for a resume from the events. tail is the incomplete turn.
// draft is text that was streaming when jp ended, or "".
func Read(events []*conversation.Event, tail *conversation.IncompleteTurn, draft string) Record {
	r := Record{Turn: tail.Number, Phase: tail.Phase(), Ledger: tail.Ledger()}
	var dialogue Point
	quiet := true // the turn has no event behind the last resume
	for _, e := range events {
		r.follow(e)
		b, resumes := e.Body.(*conversation.Resumed)
		switch {
		case resumes && b.Message != "" && !answeredSince(tail, e):
			r.stoodStill(dialogue, quiet)
			r.Said, quiet = b, true
		case e.Type().Protocol() || e.Type() == conversation.TypeToolStarted:
			dialogue, quiet = r.Last, false
		}
	}
	r.stoodStill(dialogue, quiet)
	if call := r.Ledger.LastCall(); call != nil {
		r.Call = call.Ordinal
		if !call.Ended() {
			r.Broken = text(call)
		}
	}
	r.CutOff = r.Ledger.CutOff() != nil
	if r.Phase == conversation.PhaseStreaming && len(draft) > len(r.Broken) {
		r.Broken = draft
	}
	return r
}

// stoodStill adds a span up to the newest event. If the turn left the files as they were since the last span,
// it extends that one, so that a change and its reverse within it cancel out.
func (r *Record) stoodStill(from Point, quiet bool) {
	if n := len(r.Unanswered); n > 0 && (quiet || r.Unanswered[n-1].To == from) {
		r.Unanswered[n-1].To = r.Last
		return
	}
	r.Unanswered = append(r.Unanswered, Span{from, r.Last})
}

// Ends are the spans with the last one's end as it is now.
func (r Record) Ends(now Point) []Span {
	spans := slices.Clone(r.Unanswered)
	spans[len(spans)-1].To = now
	return spans
}

func (r *Record) follow(e *conversation.Event) {
	switch e.Type() {
	case conversation.TypeMetadata, conversation.TypeForkOrigin, conversation.TypeConfigDelta, conversation.TypeRestored:
	default:
		r.At = e.Time
	}
	if e.Tree != "" {
		r.Last.Tree = e.Tree
	}
	if e.Git == nil {
		return
	}
	r.Last.Git = *e.Git
	if e.Type().Places() {
		r.Place = *e.Git
	}
}

// text is the text of a broken call, without its reasoning.
func text(call *conversation.ModelCall) string {
	var parts []string
	for _, e := range call.Events {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part == conversation.PartMessage && strings.TrimSpace(b.Text) != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// answeredSince reports whether the model said something that is sent after an
// event.
func answeredSince(tail *conversation.IncompleteTurn, since *conversation.Event) bool {
	for _, call := range tail.Ledger().Calls {
		if call.Ended() && call.Events[len(call.Events)-1].Seq > since.Seq {
			return true
		}
	}
	return false
}
