package compaction

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"jp/conversation"
)

// leastRoom is how many bytes of a shortened result are sent at least.
const leastRoom = 400

// Unread are the responses whose results the model has not answered yet, oldest first.
func Unread(events []*conversation.Event) (responses []*conversation.Event) {
	ledger := conversation.NewestTurn(events).Ledger()
	newest := ledger.LastCall()
	if newest == nil {
		return nil
	}
	force := InForce(events)
	for _, call := range ledger.ToolCalls {
		if call.Request.Call != newest.Ordinal || call.Response == nil || force.Covers(call.Event.Seq) {
			continue
		}
		if how, _ := call.Delivery(); how == conversation.Delivered {
			responses = append(responses, call.Response)
		}
	}
	return responses
}

// Shorten makes a compaction of results so that together they take at most room bytes: the newest ones stay
// whole if they take at most half of the remaining room, and the others get equal shares of the rest. It is
// nil if all fit.
func Shorten(responses []*conversation.Event, room int) *conversation.Compaction {
	var long []int
	left := max(0, room)
	for i, e := range slices.Backward(responses) {
		others := i + len(long) // that get a share of the rest, too
		size := textSize(e) + bytesPerToken*filesTokens(e, e.Body.(*conversation.ToolCallResponse).Attachments)
		if size <= leastRoom || size <= left/2 || size <= left/(others+1) {
			left = max(0, left-size)
			continue
		}
		long = append(long, e.Seq)
	}
	if len(long) == 0 {
		return nil
	}
	slices.Sort(long)
	return &conversation.Compaction{
		Kind: conversation.CompactTrim, FromSeq: long[0], ToSeq: long[len(long)-1], Trimmed: long, Room: max(leastRoom, left/len(long)),
	}
}

// ShortenedResult is the text that replaces a shortened result.
func ShortenedResult(e *conversation.Event, text string, room int) string {
	text = Shortened(text, room, fmt.Sprintf("event_read of event %d has all", e.Seq))
	if n := len(e.Body.(*conversation.ToolCallResponse).Attachments); n > 0 {
		text += fmt.Sprintf("\n[jp: %s of this result not sent]", conversation.Count(n, "file"))
	}
	return text
}

// Shortened is the beginning and the end of a text, about most bytes in all, with a line between
// them that says how much is left out.
func Shortened(text string, most int, where string) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	if at := strings.LastIndexByte(head, '\n'); at > len(head)/2 {
		head = head[:at]
	}
	if at := strings.IndexByte(tail, '\n'); at >= 0 && at < len(tail)/2 {
		tail = tail[at+1:]
	}
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[jp: %d of %d bytes left out here; %s]\n%s", head, len(text)-len(head)-len(tail), len(text), where, tail)
}
