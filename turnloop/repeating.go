package turnloop

import (
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
)

// A Repeating is a call that the model made again and again, with the same result each time.
type Repeating struct {
	Tool    string
	Subject string // the part of the arguments that says most; "" if none does
	Times   int
}

// Error says which call it is, and how often it came.
func (r *Repeating) Error() string {
	return fmt.Sprintf("the model made the same call %d times in a row with the same result: %s", r.Times, strings.TrimSpace(r.Tool+" "+r.Subject))
}

// textRepeating tells the model, after the user let it go on, what it did.
const textRepeating = "You made the same call several times in a row, and its result was the same each time. " +
	"It will most likely be the same again. Do something else, or say what you wait for."

// repeating finds what the model repeats, nil if it repeats nothing, and the newest of the
// calls: its last answers with tool calls, as many as times, asked for the same calls, and
// these had the same results. Calls are the same if tool and arguments are. Results are the
// same if the model is told the same. What the user says restarts the count, and so does
// the note behind an earlier question about the same.
func repeating(turn []*conversation.Event, l *conversation.Ledger, times int) (again *Repeating, call *conversation.ToolCall) {
	request, last := l.Request(), l.LastCall()
	if times <= 0 || request == nil || last == nil || !last.HasTools {
		return nil, nil
	}
	since := request.Seq
	for _, e := range slices.Backward(turn) {
		if b, ok := e.Body.(*conversation.Note); ok && b.Content == textRepeating {
			since = max(since, e.Seq)
			break
		}
	}
	var newest []string
	count := 0
	for _, asked := range slices.Backward(l.Calls) {
		if !asked.Ended() {
			continue // it was asked again
		}
		if asked.Events[0].Seq < since || !asked.HasTools {
			break
		}
		made, first := roundOf(l, asked.Ordinal)
		if newest == nil {
			newest, call = made, first
		}
		if len(made) == 0 || !slices.Equal(made, newest) {
			break
		}
		if count++; count >= max(times, 2) {
			return &Repeating{Tool: call.Request.Name, Times: count}, call
		}
	}
	return nil, nil
}

// roundOf are the tool calls of one model call with what came of each, in a fixed order and
// each once, and the first of the calls. It is empty if the user cancelled one of them.
func roundOf(l *conversation.Ledger, ordinal int) (made []string, first *conversation.ToolCall) {
	for _, c := range l.ToolCalls {
		if c.Request.Call != ordinal || l.Repeats(c) {
			continue
		}
		if c.Open() || c.Result.Cancelled {
			return nil, nil
		}
		if first == nil {
			first = c
		}
		arguments := string(c.Request.Arguments)
		if canonical, err := conversation.Canonical(c.Request.Arguments); err == nil {
			arguments = string(canonical)
		}
		how, words := c.Delivery()
		if how == conversation.Delivered {
			words = c.Result.Content
		}
		for _, a := range c.Result.Attachments {
			if p := c.Response.Payload(a.Name); p != nil {
				words += "\x00" + a.Name + "\x00" + p.OID
			}
		}
		made = append(made, strings.Join([]string{c.Request.Name, arguments, string(how), fmt.Sprint(c.Result.IsError), words}, "\x00"))
	}
	slices.Sort(made)
	return slices.Compact(made), first
}
