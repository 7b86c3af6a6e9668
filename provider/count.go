package provider

import (
	"slices"

	"jp/conversation"
)

// endedCalls counts the model calls that came to an end, those in discarded
// ranges apart.
func endedCalls(events []*conversation.Event) int {
	g := gapsOf(events)
	ended := 0
	for turn := range conversation.Turns(events) {
		for _, call := range turn.Ledger().Calls {
			if call.Ended() && !g.discarded(call.Events[0].Seq) {
				ended++
			}
		}
		ended += sideCalls(turn, g)
	}
	return ended
}

// sideCalls counts the questions of tools that the model was asked.
func sideCalls(turn conversation.Turn, g gaps) int {
	n := 0
	for _, e := range turn.Events {
		if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.By == conversation.ByModel && !g.discarded(e.Seq) {
			n++
		}
	}
	return n
}

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
	behind := 0
	for _, call := range ledger.Calls {
		if call.Ended() {
			behind = max(behind, slices.Index(events, call.Events[len(call.Events)-1])+1)
		}
	}
	return behind
}
