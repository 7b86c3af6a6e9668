package compaction

import (
	"slices"

	"jp/conversation"
)

// LongResult is how many bytes a result of a tool must have to be trimmed.
const LongResult = 2 << 10

// mostTrimmed bounds the list of an event: its header has a limit.
const mostTrimmed = 4000

// Cycles are the ends of a conversation's cycles that may be compacted, as the seqs of their last events,
// oldest first. A cycle is a model call with the results of its tools. One with an open call has no end yet.
func Cycles(events []*conversation.Event) []int {
	gone := discarded(events)
	var ends []int
	for turn := range conversation.Turns(events) {
		if gone[turn.First()] {
			continue
		}
		ledger := turn.Ledger()
		behind := len(ends)
		for _, call := range ledger.Calls {
			if !call.Ended() {
				continue
			}
			end, whole := endOf(ledger, call, turn.Events)
			if !whole {
				return ends
			}
			if n := len(ends); n > behind && end <= ends[n-1] {
				continue
			}
			ends = append(ends, end)
		}
		if len(ends) > behind && ledger.Complete() {
			ends[len(ends)-1] = turn.Last()
		}
	}
	return ends
}

// endOf is the seq of the last event of a cycle, false if one of its calls waits for something.
func endOf(ledger *conversation.Ledger, call *conversation.ModelCall, events []*conversation.Event) (int, bool) {
	end := call.Events[len(call.Events)-1].Seq
	about := map[int]bool{} // requests, responses and questions of the cycle
	for _, e := range call.Events {
		tool := ledger.ToolCall(e.Seq)
		if tool == nil {
			continue
		}
		if tool.Open() || tool.Undelivered() {
			return 0, false
		}
		about[e.Seq] = true
	}
	for _, e := range events {
		of := -1
		switch b := e.Body.(type) {
		case *conversation.ToolCallResponse:
			of = b.For
		case *conversation.InquiryRequest:
			of = b.For
		case *conversation.InquiryResponse:
			of = b.For
		case *conversation.ToolStarted:
			of = b.For
		case *conversation.Instructions:
			if b.For != nil {
				of = *b.For
			}
		}
		if about[of] {
			about[e.Seq], end = true, max(end, e.Seq)
		}
	}
	return end, true
}

// Bounds say which part of a conversation may be compacted.
type Bounds struct {
	Keep int // the newest cycles, which stay as they are
	To   int // the newest event that may be covered, negative: any
}

// Range is the range of a compaction within the bounds. It is false if it would be empty or is summarised
// already.
func Range(events []*conversation.Event, in Bounds) (from, to int, ok bool) {
	ends := Cycles(events)
	ends = ends[:max(0, len(ends)-max(0, in.Keep))]
	if in.To >= 0 {
		for len(ends) > 0 && ends[len(ends)-1] > in.To {
			ends = ends[:len(ends)-1]
		}
	}
	if len(ends) == 0 {
		return 0, 0, false
	}
	to = ends[len(ends)-1]
	return events[0].Seq, to, to > InForce(events).To()
}

// A Result is a long result of a tool that can be trimmed.
type Result struct {
	Event *conversation.Event // the response
	Bytes int64               // of its text and its files
}

// Trim makes a compaction of the long results within the bounds that are still sent, or nil.
func Trim(events []*conversation.Event, in Bounds) *conversation.Compaction {
	ends := Cycles(events)
	ends = ends[:max(0, len(ends)-max(0, in.Keep))]
	if in.To >= 0 {
		ends = slices.DeleteFunc(ends, func(end int) bool { return end > in.To })
	}
	if len(ends) == 0 {
		return nil
	}
	to := ends[len(ends)-1]
	results := Results(events, to)
	if len(results) == 0 {
		return nil
	}
	if len(results) > mostTrimmed {
		slices.SortStableFunc(results, func(a, b Result) int { return int(b.Bytes - a.Bytes) })
		results = results[:mostTrimmed]
	}
	b := &conversation.Compaction{Kind: conversation.CompactTrim, FromSeq: events[0].Seq, ToSeq: to, Keep: in.Keep}
	for _, r := range results {
		b.Trimmed = append(b.Trimmed, r.Event.Seq)
	}
	slices.Sort(b.Trimmed)
	return b
}

// Results are the long results up to an event that are sent as they are.
func Results(events []*conversation.Event, to int) []Result {
	force, gone := InForce(events), discarded(events)
	var results []Result
	for turn := range conversation.Turns(events) {
		ledger := turn.Ledger()
		for _, call := range ledger.ToolCalls {
			e := call.Response
			if e == nil || e.Seq > to || force.Covers(call.Event.Seq) || gone[e.Seq] {
				continue
			}
			if room, trimmed := force.Trimmed[e.Seq]; trimmed && room == 0 {
				continue
			}
			if how, _ := call.Delivery(); how != conversation.Delivered || readsSkill(call) {
				continue
			}
			if size := ResultSize(e); size > LongResult {
				results = append(results, Result{e, size})
			}
		}
	}
	return results
}

// ResultSize is how many bytes of a response are sent: its text and its files.
func ResultSize(e *conversation.Event) int64 {
	b, ok := e.Body.(*conversation.ToolCallResponse)
	if !ok {
		return 0
	}
	size := int64(textSize(e))
	for _, a := range b.Attachments {
		if p := e.Payload(a.Name); p != nil {
			size += p.Bytes
		}
	}
	return size
}

// discarded are the seqs that discards cover.
func discarded(events []*conversation.Event) map[int]bool {
	gone := map[int]bool{}
	for _, e := range events {
		if b, ok := e.Body.(*conversation.TurnDiscarded); ok {
			for seq := b.FromSeq; seq <= b.ToSeq && seq-b.FromSeq <= len(events); seq++ {
				gone[seq] = true
			}
		}
	}
	return gone
}
