package conversation

import "slices"

// Instructed returns the events by which a model was given instructions that a request still
// sends: those of discarded turns, and those before a refusal, are gone. What someone
// else's jp gave, before the conversation was adopted, is not known to be what it says.
func Instructed(events []*Event) []*Event {
	var given []*Event
	for _, e := range sent(events) {
		if e.Type() == TypeInstructions {
			given = append(given, e)
		}
	}
	return given
}

// ToldEnvironment returns what a model was told last of the place where jp runs, by the same rules.
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
// its provider, refused. Nothing up to there may be sent again.
func RefusedUntil(l *Ledger, events []*Event) int {
	behind := 0
	for _, call := range l.Calls {
		if call.Finish.Refused() {
			behind = max(behind, slices.Index(events, call.Events[len(call.Events)-1])+1)
		}
	}
	return behind
}
