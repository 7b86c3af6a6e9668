package conversation

import "slices"

// Instructed returns the events by which a model was given instructions that a request still
// sends: those of discarded turns, and those before a refusal, are gone. What someone
// else's jp gave, before the conversation was adopted, is not known to be what it says.
func Instructed(events []*Event) []*Event {
	gone := discarded(events)
	var given []*Event
	for turn := range Turns(Own(events)) {
		kept := slices.DeleteFunc(slices.Clone(turn.Events), func(e *Event) bool { return gone[e.Seq] })
		ledger := LedgerOf(kept)
		if len(ledger.Requests) == 0 {
			continue
		}
		for _, e := range kept[refusedUntil(ledger, kept):] {
			if e.Type() == TypeInstructions {
				given = append(given, e)
			}
		}
	}
	return given
}

// refusedUntil is the index behind the newest call that the model, or its provider, refused.
func refusedUntil(l *Ledger, events []*Event) int {
	behind := 0
	for _, call := range l.Calls {
		if call.Finish.Refused() {
			behind = max(behind, slices.Index(events, call.Events[len(call.Events)-1])+1)
		}
	}
	return behind
}
