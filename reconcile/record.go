package reconcile

import (
	"strings"
	"time"

	"jp/conversation"
)

// A Record is what a conversation's events say of an incomplete turn and of the
// files.
type Record struct {
	Turn   int
	Call   int // ordinal of the newest model call, 0 if the model was not asked
	Phase  conversation.Phase
	Ledger *conversation.Ledger
	Place  conversation.Git      // where the turn ran: of its start, or of a later fork, resume or tool
	Last   Point                 // at the newest event
	Base   Point                 // what the model knows of: at the newest event of the dialogue, or before what was said and not answered
	At     time.Time             // of the newest event of the turn itself
	Broken string                // text of an answer that was broken off
	Said   *conversation.Resumed // what the model was told of an earlier resume and has not answered
}

// A Point is where the files and the repository stood at an event.
type Point struct {
	Tree string
	Git  conversation.Git
}

// Read takes from the events what a resume has to know. tail is the incomplete
// turn; draft is text that was streaming when jp ended, "" if there is none.
func Read(events []*conversation.Event, tail *conversation.IncompleteTurn, draft string) Record {
	r := Record{Turn: tail.Number, Phase: tail.Phase(), Ledger: tail.Ledger()}
	dialogue := Point{}
	for _, e := range events {
		r.follow(e)
		b, resumes := e.Body.(*conversation.Resumed)
		switch {
		case resumes && b.Message != "" && !answeredSince(tail, e):
			if r.Said == nil {
				r.Base = dialogue
			}
			r.Said = b
		case e.Type().Protocol() || e.Type() == conversation.TypeToolStarted:
			dialogue = r.Last
		}
	}
	if r.Said == nil {
		r.Base = dialogue
	}
	if call := r.Ledger.LastCall(); call != nil {
		r.Call = call.Ordinal
		if !call.Ended() {
			r.Broken = text(call)
		}
	}
	if r.Phase == conversation.PhaseStreaming && len(draft) > len(r.Broken) {
		r.Broken = draft
	}
	return r
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

// text is what a broken call said, without its reasoning.
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
