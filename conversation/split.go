package conversation

// An IncompleteTurn is the tail of a conversation whose last turn has not ended. The user may resume or
// discard it. Everything else leaves it alone.
type IncompleteTurn struct {
	Turn
	ledger *Ledger
}

// Ledger pairs the turn's requests with their responses.
func (t *IncompleteTurn) Ledger() *Ledger { return t.ledger }

// Phase is the step at which the turn has to be resumed.
func (t *IncompleteTurn) Phase() Phase { return t.ledger.Phase() }

// Status is the turn's state as readers see it.
func (t *IncompleteTurn) Status() Status { return t.ledger.Status() }

// Empty reports whether the tail is just a turn_start. An empty tail needs no resume, and the next turn takes
// its place.
func (t *IncompleteTurn) Empty() bool { return t.ledger.Empty() }

// SplitTail separates the complete turns from an incomplete last one, which is nil if every turn is complete.
// Both together are the given events.
func SplitTail(events []*Event) (*Stream, *IncompleteTurn) {
	at := tailStart(events)
	if at == len(events) {
		return streamOf(events), nil
	}
	tail := events[at:]
	ledger := LedgerOf(tail)
	if ledger.Complete() {
		return streamOf(events), nil
	}
	turn := Turn{Number: tail[len(tail)-1].Turn, Events: tail}
	return streamOf(events[:at:at]), &IncompleteTurn{Turn: turn, ledger: ledger}
}

// JoinTail puts an incomplete turn back behind the complete ones, so that the loop
// can go on with it.
func JoinTail(s *Stream, tail *IncompleteTurn) *Stream {
	if tail == nil {
		return s
	}
	joined := streamOf(append(s.events[:len(s.events):len(s.events)], tail.Events...))
	joined.clock = s.clock
	return joined
}
