package provider

import (
	"slices"

	"jp/conversation"
)

// endedCalls counts the model calls that came to an end, those in discarded
// ranges apart. It is as many as [SaidIn] lists.
func endedCalls(events []*conversation.Event, g gaps) (n int) {
	for turn := range conversation.Turns(events) {
		for range said(turn, g) {
			n++
		}
	}
	return n
}

// failedTries counts the failed tries since the newest call that ended: the broken calls of the last turn,
// and the tries that an interruption records because they left no part of an answer.
func failedTries(events []*conversation.Event) int {
	last := conversation.NewestTurn(events)
	ledger := last.Ledger()
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
