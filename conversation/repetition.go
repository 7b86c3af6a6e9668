package conversation

import (
	"bytes"
	"math"
	"slices"
)

// noTimeMS is the longest duration of a call that counts as taking no time: a file was read, an error came at
// once. A call that asks a server, or sleeps, takes longer.
const noTimeMS = 200

// A Repetition is a model call with tools, and how often in a row it came with the same results.
type Repetition struct {
	Ordinal int         // of the model call
	Calls   []*ToolCall // its tool calls; empty if one of them is open or was cancelled
	Times   int         // 1: it is new
	Pair    bool        // the model makes it in turn with another one
	Idle    bool        // each time in a row it was instant, and the files stayed as they were
	Over    bool        // the user has said something since
}

// Repetitions are the ended model calls of the turn, in order. Calls are the same if tool and arguments are.
// Results are the same if their texts for the model are. The order of calls within an answer is irrelevant. A
// message of the user restarts the count, and so does an answer without tools.
func (l *Ledger) Repetitions() []Repetition {
	asked := map[int][]*ToolCall{}
	for _, c := range l.ToolCalls {
		asked[c.Request.Call] = append(asked[c.Request.Call], c)
	}
	var all []Repetition
	paired, since := 0, 0 // how many of the newest rounds are each the same as the last but one; the first event of the series
	for _, call := range l.Calls {
		if !call.Ended() {
			continue // it was asked again
		}
		r := Repetition{Ordinal: call.Ordinal, Calls: l.round(asked[call.Ordinal]), Times: 1, Over: l.saidBetween(call.Events[0].Seq, math.MaxInt)}
		first, n := call.Events[0].Seq, len(all)
		before := func(back int) *Repetition {
			if n < back || len(all[n-1].Calls) == 0 || !sameRound(all[n-back].Calls, r.Calls) {
				return nil
			}
			earlier := all[n-back].Calls[0].Event.Seq
			if l.saidBetween(earlier, first) {
				return nil
			}
			return &all[n-back]
		}
		if before(2) != nil {
			paired++
		} else {
			paired = 0
		}
		r.Idle = !slices.ContainsFunc(r.Calls, func(c *ToolCall) bool { return c.Result.DurationMS >= noTimeMS || len(c.Result.Changed) > 0 })
		if last := before(1); last != nil {
			r.Times = last.Times + 1
			if last.Pair {
				r.Times = 2
			}
			r.Idle = r.Idle && last.Idle && l.moved < since
		} else {
			since = first
			if paired > 0 {
				r.Times, r.Pair = (paired+1)/2+1, true
			}
		}
		all = append(all, r)
	}
	return all
}

// saidBetween reports whether the user said something between two events.
func (l *Ledger) saidBetween(from, to int) bool {
	return slices.ContainsFunc(l.said, func(seq int) bool { return from < seq && seq < to })
}

// round are the tool calls of one model call without those that the answer has twice. It is
// empty if one of them is open or was cancelled.
func (l *Ledger) round(asked []*ToolCall) []*ToolCall {
	if slices.ContainsFunc(asked, func(c *ToolCall) bool { return c.Open() || c.Result.Cancelled }) {
		return nil
	}
	return slices.DeleteFunc(asked, func(c *ToolCall) bool { return len(asked) > 1 && l.Repeats(c) })
}

// sameRound reports whether two model calls asked for the same tool calls, and these had the
// same results.
func sameRound(a, b []*ToolCall) bool {
	within := func(a, b []*ToolCall) bool {
		return !slices.ContainsFunc(a, func(x *ToolCall) bool {
			return !slices.ContainsFunc(b, func(y *ToolCall) bool { return sameCall(x, y) })
		})
	}
	return len(a) > 0 && len(b) > 0 && within(a, b) && within(b, a)
}

// sameCall compares results before arguments: most calls differ in their results, and a look at
// JSON costs more. The text of a long result names its event, so its hash is compared.
func sameCall(a, b *ToolCall) bool {
	x, y := a.Request, b.Request
	how, words := a.Delivery()
	howB, wordsB := b.Delivery()
	if x.Name != y.Name || a.Result.IsError != b.Result.IsError || how != howB || words != wordsB {
		return false
	}
	if long, too := a.Result.Truncated, b.Result.Truncated; long == nil || too == nil || *long != *too {
		if how == Delivered && a.Result.Content != b.Result.Content {
			return false
		}
	}
	oid := func(c *ToolCall, of Attachment) string {
		if p := c.Response.Payload(of.Name); p != nil {
			return p.OID
		}
		return ""
	}
	if !slices.EqualFunc(a.Result.Attachments, b.Result.Attachments, func(p, q Attachment) bool { return p == q && oid(a, p) == oid(b, q) }) {
		return false
	}
	return bytes.Equal(x.Arguments, y.Arguments) || sameJSON(x.Arguments, y.Arguments)
}
