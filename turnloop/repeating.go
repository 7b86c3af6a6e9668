package turnloop

import (
	"fmt"
	"strings"

	"jp/conversation"
)

// A Repeating is a call that the model made again and again, with the same result each time.
type Repeating struct {
	Tool    string
	Subject string // the most telling part of the arguments, or ""
	Times   int
	Pair    bool // in turn with another one
}

// Error says which call it is, and how often it came.
func (r *Repeating) Error() string {
	how := "in a row"
	if r.Pair {
		how = "in turn with another one,"
	}
	return fmt.Sprintf("the model made the same call %d times %s with the same result: %s", r.Times, how, strings.TrimSpace(r.Tool+" "+r.Subject))
}

// mostWaiting is how often the model may make a call that takes time: it may wait for something.
const mostWaiting = 10

// repeating finds a repetition of the model: its newest model call, if it came as often as times and took no
// time, or if it came [mostWaiting] times, else nil. call is the first of its tool calls.
func repeating(l *conversation.Ledger, times int) (again *Repeating, call *conversation.ToolCall) {
	all, last := l.Repetitions(), l.LastCall()
	if times <= 0 || len(all) == 0 || !last.HasTools {
		return nil, nil
	}
	r := all[len(all)-1]
	most := max(times, mostWaiting)
	if r.Idle && !r.Pair {
		most = max(times, 2)
	}
	if r.Ordinal != last.Ordinal || r.Over || r.Times < most {
		return nil, nil
	}
	return &Repeating{Tool: r.Calls[0].Request.Name, Times: r.Times, Pair: r.Pair}, r.Calls[0]
}
