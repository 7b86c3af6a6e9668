// Package compaction decides how less of a conversation is sent to a model: which results of
// tools are named in one line, and which events a summary stands for. It works on recorded
// events alone, and keeps them all.
package compaction

import (
	"slices"

	"jp/conversation"
)

// A Force is the effect of a conversation's compactions on its requests.
type Force struct {
	Summary *conversation.Event // the newest summary, or nil
	// Trimmed are the bytes that are sent of results, by the seq of the response: 0 for one line.
	Trimmed map[int]int
	// Stale are the ranges of events in which the model's reasoning is bound to other words
	// than those that are sent before it now.
	Stale []Span
}

// A Span is a range of seqs, both ends included.
type Span struct{ From, To int }

// InForce derives from all events of a conversation the compactions that hold. Those of someone else's jp,
// from before the adoption of the conversation, never do.
func InForce(events []*conversation.Event) Force {
	f := Force{Trimmed: map[int]int{}}
	undone := map[int]int{} // maps the seq of an undone compaction to the seq of the undoing event
	// Only events since the conversation was adopted count.
	var own []*conversation.Event
	adopted := false
	for i := len(events) - 1; i >= 0 && !adopted; i-- {
		switch b := events[i].Body.(type) {
		case *conversation.Compaction, *conversation.CompactionUndone:
			own = append(own, events[i])
		case *conversation.ForkOrigin:
			adopted = b.Adopted
		}
	}
	slices.Reverse(own)
	for _, e := range own {
		if b, ok := e.Body.(*conversation.CompactionUndone); ok {
			if _, twice := undone[b.For]; !twice && b.For < e.Seq {
				undone[b.For] = e.Seq
			}
		}
	}
	for _, e := range own {
		b, ok := e.Body.(*conversation.Compaction)
		if !ok || b.ToSeq >= e.Seq {
			continue
		}
		if by, is := undone[e.Seq]; is {
			f.Stale = append(f.Stale, Span{e.Seq, by})
			continue
		}
		f.Stale = append(f.Stale, Span{0, e.Seq})
		switch b.Kind {
		case conversation.CompactSummary:
			f.Summary = e
		case conversation.CompactTrim:
			for _, seq := range b.Trimmed {
				f.Trimmed[seq] = b.Room
			}
		}
	}
	return f
}

// Covers reports whether a summary stands for the event.
func (f Force) Covers(seq int) bool { return seq <= f.To() }

// To is the seq of the newest event that a summary stands for, or -1.
func (f Force) To() int {
	if f.Summary == nil {
		return -1
	}
	return f.Summary.Body.(*conversation.Compaction).ToSeq
}

// Newest is the newest compaction that holds, or nil.
func Newest(events []*conversation.Event) *conversation.Event {
	undone := map[int]bool{}
	for _, e := range slices.Backward(conversation.AfterAdoption(events)) {
		switch b := e.Body.(type) {
		case *conversation.CompactionUndone:
			undone[b.For] = true
		case *conversation.Compaction:
			if !undone[e.Seq] {
				return e
			}
		}
	}
	return nil
}
