package conversation

// InterruptedText is the result that a reader sees for a tool call without one.
const InterruptedText = "Tool call was interrupted."

// Sanitize returns complete turns as a reader may rely on them: discarded ranges and empty turns are gone,
// every tool call has exactly one response, every inquiry its answer, and a turn's dialogue comes after its
// first request. It leaves events as they are, and makes up missing ones in the projection only. If no turn
// needs repair, it returns the given events. Sanitize is idempotent.
func Sanitize(events []*Event) []*Event {
	covered := discarded(events)
	kept := make([]*Event, 0, len(events))
	changed := false
	at := 0
	for turn := range Turns(events) {
		for at < len(events) && events[at] != turn.Events[0] {
			kept = append(kept, events[at]) // records before the first turn
			at++
		}
		at += len(turn.Events)
		repaired, same := repairTurn(turn, covered)
		changed = changed || !same
		kept = append(kept, repaired...)
	}
	kept = append(kept, events[at:]...)
	if !changed {
		return events
	}
	return kept
}

// coveredByDiscard reports whether a discard covers events of the type: the dialogue, and events that have no
// meaning without it. Settings stay in force.
func coveredByDiscard(t Type) bool {
	switch t {
	case TypeNote, TypeInstructions, TypeToolStarted, TypeResumed, TypeTurnInterrupted, TypeState, TypeTurnDone:
		return true
	}
	return t.Protocol()
}

// discarded returns the seqs that a turn_discarded covers.
func discarded(events []*Event) map[int]bool {
	covered := map[int]bool{}
	for _, e := range events {
		if b, ok := e.Body.(*TurnDiscarded); ok {
			for seq := b.FromSeq; seq <= b.ToSeq && seq-b.FromSeq <= len(events); seq++ {
				covered[seq] = true
			}
		}
	}
	return covered
}

// repairTurn returns the turn's events as they may be relied on, and whether
// they are the ones that it was given.
func repairTurn(turn Turn, covered map[int]bool) ([]*Event, bool) {
	ledger := turn.Ledger()
	r := repair{ledger: ledger, covered: covered, calls: map[*ToolCall]bool{}}
	kept := make([]*Event, 0, len(turn.Events))
	for _, e := range turn.Events {
		if r.keeps(e) {
			kept = append(kept, e)
		}
		if call := ledger.ToolCall(e.Seq); r.calls[call] && e == call.Event && call.Response == nil {
			kept = append(kept, missingResponse(call))
			r.made = true
		}
	}
	if !r.asked {
		return recordsOnly(kept, turn.Events)
	}
	return kept, len(kept) == len(turn.Events) && !r.made
}

// repair decides, event by event, which parts of a turn to keep.
type repair struct {
	ledger  *Ledger
	covered map[int]bool
	asked   bool               // a request has been seen
	calls   map[*ToolCall]bool // calls that are kept
	made    bool               // a response was made up
}

func (r *repair) keeps(e *Event) bool {
	if r.covered[e.Seq] && coveredByDiscard(e.Type()) {
		return false
	}
	if !e.Type().Protocol() {
		return true
	}
	switch b := e.Body.(type) {
	case *ChatRequest:
		r.asked = true
	case *TurnStart:
		return true
	case *ToolCallRequest:
		r.calls[r.ledger.ToolCall(e.Seq)] = r.asked
	case *ToolCallResponse:
		call := r.ledger.ToolCall(b.For)
		return r.calls[call] && call.Response == e
	case *InquiryRequest:
		q := r.ledger.InquiryAt(e.Seq)
		return q != nil && r.calls[q.Call] && q.Response != nil
	case *InquiryResponse:
		q := r.ledger.InquiryAt(b.For)
		return q != nil && r.calls[q.Call] && q.Response == b
	}
	return r.asked
}

// recordsOnly keeps jp's own records of a turn without a request.
func recordsOnly(kept, all []*Event) ([]*Event, bool) {
	var records []*Event
	for _, e := range kept {
		if !e.Type().Protocol() {
			records = append(records, e)
		}
	}
	return records, len(records) == len(all)
}

func missingResponse(call *ToolCall) *Event {
	return &Event{
		Seq: call.Event.Seq, Turn: call.Event.Turn, Time: call.Event.Time, Version: Version, Model: call.Event.Model,
		Body: &ToolCallResponse{
			For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name, Content: InterruptedText, IsError: true,
		},
	}
}
