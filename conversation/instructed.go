package conversation

import "slices"

// Instructed returns the events by which a model was given instructions that a request still sends: those of
// discarded turns, and those before a refusal, are gone. Those of someone else's jp, before the adoption of
// the conversation, are left out: their content is unproven.
func Instructed(events []*Event) []*Event {
	var given []*Event
	for _, e := range sent(events) {
		if e.Type() == TypeInstructions {
			given = append(given, e)
		}
	}
	return given
}

// ToldEnvironment returns the newest description of jp's surroundings that a model was given, by the same
// rules.
func ToldEnvironment(events []*Event) (told string) {
	for _, e := range sent(events) {
		if b, ok := e.Body.(*TurnStart); ok && b.Environment != "" {
			told = b.Environment
		}
	}
	return told
}

// sent are the user's own events that a request still sends.
func sent(events []*Event) (all []*Event) {
	gone := discarded(events)
	for turn := range Turns(AfterAdoption(events)) {
		kept := slices.DeleteFunc(slices.Clone(turn.Events), func(e *Event) bool { return gone[e.Seq] })
		ledger := LedgerOf(kept)
		if len(ledger.Requests) > 0 {
			all = append(all, kept[RefusedUntil(ledger, kept):]...)
		}
	}
	return all
}

// RefusedUntil is the index, in the events of a turn, behind the newest call that the model, or
// its provider, refused. The events up to there must never be sent again.
func RefusedUntil(l *Ledger, events []*Event) int {
	behind := 0
	for _, call := range l.Calls {
		if call.Finish.Refused() {
			behind = max(behind, slices.Index(events, call.Events[len(call.Events)-1])+1)
		}
	}
	return behind
}
