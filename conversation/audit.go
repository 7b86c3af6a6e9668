package conversation

import (
	"iter"
	"slices"
)

// Audit checks that events make sense one behind the other, by the rules that
// [TurnBuilder.Build] has for new ones. What jp writes passes; history that was
// imported or edited may not, and is repaired only in projections.
func Audit(events []*Event) []Problem {
	var a Auditor
	for _, e := range events {
		a.Next(e)
	}
	return a.Problems
}

// An Auditor is [Audit] for events that come one by one. It holds those of the newest turn.
type Auditor struct {
	Problems []Problem
	ledger   *Ledger
}

// Next checks the next event.
func (a *Auditor) Next(e *Event) {
	if a.ledger == nil || e.Type() == TypeTurnStart {
		a.ledger = NewLedger()
	}
	if err := checkOne(a.ledger, e); err != nil {
		a.Problems = append(a.Problems, Problem{Commit: e.Commit, Seq: e.Seq, Text: err.Error()})
	}
	a.ledger.Enter(e)
}

// Local reports whether a conversation may act: whether this user's jp wrote
// its newest event, and every event of its last turn since the user last
// adopted it. Whatever is not local is foreign: it can be read and forked.
func Local(events []*Event) bool {
	from := tailStart(events)
	for i := len(events) - 1; i >= from; i-- {
		if !events[i].Signed {
			return false
		}
		if adopts(events[i]) {
			return true
		}
	}
	return len(events) > 0 && events[len(events)-1].Signed
}

// AfterAdoption are the events since the user last adopted the conversation; all, where
// nobody did. The models and settings of those before are someone else's word, and
// do not act.
func AfterAdoption(events []*Event) []*Event {
	for i, e := range slices.Backward(events) {
		if adopts(e) {
			return events[i+1:]
		}
	}
	return events
}

// adopts reports whether an event makes what stands before it the user's.
func adopts(e *Event) bool {
	b, ok := e.Body.(*ForkOrigin)
	return ok && b.Adopted
}

// LocalTip is [Local] for who has only a conversation's newest event, and reads
// the ones before it, newest first, no further than to the newest that only the
// conversation's own writer adds.
func LocalTip(tip *Event, back iter.Seq2[*Event, error]) bool {
	if !tip.Signed || writersOwn(tip) {
		return tip.Signed
	}
	for e, err := range back {
		if err != nil || !e.Signed {
			return false
		}
		if adopts(e) || writersOwn(e) {
			break
		}
	}
	return true
}

// writersOwn reports whether nobody adds an event of this type to a foreign
// conversation.
func writersOwn(e *Event) bool { return e.Type().Protocol() || e.Type() == TypeTurnDone }
