package provider

import (
	"cmp"
	"slices"

	"jp/conversation"
)

// A Said is what a model said in one call that counts as ended, in [Request.Ended]: to
// the conversation, or to a tool that asked it.
type Said struct {
	Events []*conversation.Event // the call's; one answer where it was a tool's question
}

// SaidIn lists what the models of a conversation said, in order, as many times as its
// next request has ended calls.
func SaidIn(events []*conversation.Event) (all []Said) {
	g := gapsOf(events)
	for turn := range conversation.Turns(events) {
		for _, call := range turn.Ledger().Calls {
			if call.Ended() && !g.discarded(call.Events[0].Seq) {
				all = append(all, Said{Events: call.Events})
			}
		}
		for _, e := range turn.Events {
			if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.By == conversation.ByModel && !g.discarded(e.Seq) {
				all = append(all, Said{Events: []*conversation.Event{e}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Said) int { return cmp.Compare(a.Events[0].Seq, b.Events[0].Seq) })
	return all
}
