package turnloop

import (
	"fmt"
	"strings"

	"jp/conversation"
)

// maxFailures is the number of successive model calls that may ask for a tool that cannot run, with the same
// error each time, before the turn ends.
const maxFailures = 3

// A Failing is a tool that the model asked for again and again with the same error.
type Failing struct {
	Tool    string
	Problem string // the same message to the model each time
}

// Error says which tool it is, and the error.
func (f *Failing) Error() string {
	return fmt.Sprintf("the model called %s %d times in a row with the same error: %s", f.Tool, maxFailures, f.Problem)
}

// CutOff reports whether the output limit cut the calls off.
func (f *Failing) CutOff() bool { return f.Problem == textCutOff }

// failing finds the tool whose newest calls all failed in the same way, nil if there is none. Only calls that
// never ran count, since a tool's own result may change with the files. Several calls of one answer count
// once, because the model had yet to hear of the first error. A message of the user restarts the count.
func failing(l *conversation.Ledger) *Failing {
	type row struct {
		problem string
		call    int // the newest model call
		times   int
	}
	last, request := l.LastCall(), l.Request()
	if last == nil || request == nil {
		return nil
	}
	rows := map[string]*row{}
	for _, c := range l.ToolCalls {
		r := rows[c.Request.Name]
		if r == nil {
			r = &row{}
			rows[c.Request.Name] = r
		}
		switch problem := problemOf(c); {
		case c.Event.Seq < request.Seq:
		case problem == "" || problem != r.problem:
			*r = row{problem: problem, call: c.Request.Call, times: 1}
		case c.Request.Call != r.call:
			r.call = c.Request.Call
			r.times++
		}
	}
	for _, c := range l.ToolCalls {
		if r := rows[c.Request.Name]; r.call == last.Ordinal && r.problem != "" && r.times >= maxFailures {
			return &Failing{Tool: c.Request.Name, Problem: r.problem}
		}
	}
	return nil
}

// problemOf is the reason why a call never ran, without the model's words. It is "" if the call ran or a user
// declined it.
func problemOf(c *conversation.ToolCall) string {
	if c.Open() || !c.Result.IsError || c.Result.Cancelled || c.Started != nil || len(c.Inquiries) > 0 {
		return ""
	}
	text := c.Result.Content
	if !strings.HasPrefix(text, textNotRun) && !strings.HasPrefix(text, textNoSuchTool) {
		return ""
	}
	text, _, _ = strings.Cut(text, textAllTools)
	if strings.HasPrefix(text, textMalformed) {
		text, _, _ = strings.Cut(textMalformed, " You wrote: ")
	}
	return text
}
