package conversation

import (
	"iter"
	"slices"
)

// Audit checks that each event fits those before it, by the rules that [TurnBuilder.Build] has for new ones.
// Everything that jp writes passes. Imported or edited history may not, and is repaired only in projections.
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
// adopted it. Any other conversation is foreign: it can be read and forked.
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

// AfterAdoption are the events since the user last adopted the conversation; without an adoption all of them.
// The models and settings of earlier events are someone else's, and have no effect.
func AfterAdoption(events []*Event) []*Event {
	for i, e := range slices.Backward(events) {
		if adopts(e) {
			return events[i+1:]
		}
	}
	return events
}

// adopts reports whether an event makes all events before it the user's.
func adopts(e *Event) bool {
	b, ok := e.Body.(*ForkOrigin)
	return ok && b.Adopted
}

// LocalTip is [Local] for a caller that has only a conversation's newest event. It reads the ones before it,
// newest first, down to the newest that only the conversation's own writer adds.
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

// writersOwn reports whether only its own writer adds an event of this type to a conversation.
func writersOwn(e *Event) bool { return e.Type().Protocol() || e.Type() == TypeTurnDone }
