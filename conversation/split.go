package conversation

// An IncompleteTurn is the tail of a conversation whose last turn did not come
// to its end. It is offered to be resumed or discarded; nothing else may act
// on it.
type IncompleteTurn struct {
	Turn
	ledger *Ledger
}

// Ledger pairs the turn's requests with their responses.
func (t *IncompleteTurn) Ledger() *Ledger { return t.ledger }

// Phase is where the turn has to be gone on with.
func (t *IncompleteTurn) Phase() Phase { return t.ledger.Phase() }

// Status is what readers are told of the turn.
func (t *IncompleteTurn) Status() Status { return t.ledger.Status() }

// Empty reports whether the tail is a turn_start that nothing followed. An
// empty tail waits for nothing, and the next turn takes its place.
func (t *IncompleteTurn) Empty() bool { return t.ledger.Empty() }

// SplitTail separates the complete turns from an incomplete last one, which is nil
// where every turn is complete. Both together are the events that were given.
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
