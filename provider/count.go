package provider

import (
	"slices"

	"jp/conversation"
)

// endedCalls counts the model calls that came to an end, those in discarded
// ranges apart.
func endedCalls(events []*conversation.Event) int { return len(SaidIn(events)) }

// failedTries counts how often the model was asked in vain since the newest
// call that ended: the broken calls of the last turn, and the tries that an
// interruption has on record because they left no part of an answer.
func failedTries(events []*conversation.Event) int {
	var last conversation.Turn
	for last = range conversation.Turns(events) {
	}
	ledger := conversation.LedgerOf(last.Events)
	failed := 0
	for _, e := range last.Events[behindEnded(last.Events, ledger):] {
		if startedBy(ledger, e) != nil {
			failed++
		}
		if b, ok := e.Body.(*conversation.TurnInterrupted); ok {
			failed += b.Tries
		}
	}
	return failed
}

// behindEnded is the index behind the last event of the newest call that ended.
func behindEnded(events []*conversation.Event, ledger *conversation.Ledger) int {
	for i, e := range slices.Backward(events) {
		if call := ledger.ModelCall(e); call != nil && call.Ended() {
			return i + 1
		}
	}
	return 0
}
