package provider

import (
	"cmp"
	"iter"
	"slices"

	"jp/conversation"
)

// A Said is the output of one model call that counts as ended in [Request.Ended]: an answer to the
// conversation, or to a tool's question.
type Said struct {
	Events []*conversation.Event // the call's, or one answer to a tool's question
}

// SaidIn lists the answers of the models of a conversation, in order. Their number is that of the ended calls
// of its next request.
func SaidIn(events []*conversation.Event) (all []Said) {
	g := gapsOf(events)
	for turn := range conversation.Turns(events) {
		all = slices.AppendSeq(all, said(turn, g))
	}
	slices.SortStableFunc(all, func(a, b Said) int { return cmp.Compare(a.Events[0].Seq, b.Events[0].Seq) })
	return all
}

// said is the answers of a turn: those of its calls, then those to its tools.
func said(turn conversation.Turn, g gaps) iter.Seq[Said] {
	return func(yield func(Said) bool) {
		for _, call := range turn.Ledger().Calls {
			if call.Ended() && !g.discarded(call.Events[0].Seq) && !yield(Said{Events: call.Events}) {
				return
			}
		}
		for i, e := range turn.Events {
			if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.By == conversation.ByModel && !g.discarded(e.Seq) && !yield(Said{Events: turn.Events[i : i+1 : i+1]}) {
				return
			}
		}
	}
}
