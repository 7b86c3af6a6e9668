package conversation

import "iter"

// A Turn is everything from one turn_start to the next.
type Turn struct {
	Number int // from 1; 0 for events before the first turn_start
	Events []*Event
}

// Ledger pairs the turn's requests with their responses.
func (t Turn) Ledger() *Ledger { return LedgerOf(t.Events) }

// First is the seq of the turn's first event.
func (t Turn) First() int { return t.Events[0].Seq }

// Last is the seq of the turn's last event.
func (t Turn) Last() int { return t.Events[len(t.Events)-1].Seq }

// Schema is the schema of the turn's answer: that of its first request.
func (t Turn) Schema() []byte {
	for _, e := range t.Events {
		if b, ok := e.Body.(*ChatRequest); ok {
			return b.Schema
		}
	}
	return nil
}

// Turns splits events at every turn_start. Events before the first one are a turn of their own if there are
// any of the dialogue among them; jp's own records there are outside of any turn and left out.
func Turns(events []*Event) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		start := turnStart(events, 0)
		if implicit := events[:start]; hasProtocol(implicit) {
			if !yield(Turn{Number: implicit[len(implicit)-1].Turn, Events: implicit}) {
				return
			}
		}
		for start < len(events) {
			end := turnStart(events, start+1)
			if !yield(Turn{Number: events[start].Turn, Events: events[start:end]}) {
				return
			}
			start = end
		}
	}
}

// NewestTurn is the last one of [Turns], or the zero value.
func NewestTurn(events []*Event) Turn {
	tail := events[tailStart(events):]
	if len(tail) == 0 {
		return Turn{}
	}
	number := tail[0].Turn
	if tail[0].Type() != TypeTurnStart {
		number = tail[len(tail)-1].Turn
	}
	return Turn{Number: number, Events: tail}
}

// turnStart is the index of the first turn_start at or behind from.
func turnStart(events []*Event, from int) int {
	for i := from; i < len(events); i++ {
		if events[i].Type() == TypeTurnStart {
			return i
		}
	}
	return len(events)
}

func hasProtocol(events []*Event) bool {
	for _, e := range events {
		if e.Type().Protocol() {
			return true
		}
	}
	return false
}

// tailStart is the index at which the last turn begins.
func tailStart(events []*Event) int {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type() == TypeTurnStart {
			return i
		}
	}
	if hasProtocol(events) {
		return 0
	}
	return len(events)
}
