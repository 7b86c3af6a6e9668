package recall

import (
	"context"
	"slices"

	"jp/conversation"
)

// released is a source of events in which each tool result has only the text that the user released to the
// model.
type released struct{ journal Journal }

// Scan implements [search.Source]. Several events together tell whether a held result was released. If the
// prefilter passed one of them, Scan reads all events.
func (s released) Scan(ctx context.Context, of conversation.Info, filter conversation.Prefilter) ([]*conversation.Event, error) {
	events, err := s.journal.Scan(ctx, of, filter)
	if !slices.ContainsFunc(events, delivers) {
		return events, err
	}
	events, err = s.journal.Load(ctx, of.Head)
	var kept []*conversation.Event
	for turn := range conversation.Turns(events) {
		ledger := turn.Ledger()
		for _, e := range turn.Events {
			if e, ok := release(ledger, e); ok {
				kept = append(kept, e)
			}
		}
	}
	return kept, err
}

// delivers reports whether an event has a part in the delivery of a held result.
func delivers(e *conversation.Event) bool {
	switch b := e.Body.(type) {
	case *conversation.ToolCallResponse:
		return b.Held
	case *conversation.InquiryResponse:
		return b.Choice() == conversation.AnswerEdit
	}
	return false
}

// release returns an event as the model may see it, and whether it may at all.
func release(ledger *conversation.Ledger, e *conversation.Event) (*conversation.Event, bool) {
	b, ok := e.Body.(*conversation.ToolCallResponse)
	if !ok || !b.Held {
		return e, true
	}
	call := ledger.ToolCall(b.For)
	if call == nil || call.Response != e {
		return nil, false
	}
	switch how, words := call.Delivery(); how {
	case conversation.Delivered:
		return e, true
	case conversation.Replaced:
		e = e.Clone()
		e.SetText(words)
		return e, true
	}
	return nil, false
}
