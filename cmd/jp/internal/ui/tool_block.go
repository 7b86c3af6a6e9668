package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// A callRecord is the turn's events about a tool call before its result.
type callRecord struct {
	call    conversation.ToolCall
	thing   string // its object, from the subject of the request, or of the result if the call was edited
	allowed string // who allowed or denied it; "" if it needed no approval
}

// follow notes an event of a tool call.
func (r *record) follow(e *conversation.Event) {
	switch b := e.Body.(type) {
	case *conversation.TurnStart:
		r.approved = b.Approved
	case *conversation.Resumed:
		r.approved = b.Approved
	case *conversation.ToolCallRequest:
		r.calls[e.Seq] = &callRecord{call: conversation.ToolCall{Event: e, Request: b}, thing: strings.TrimPrefix(e.Subject, "call "+b.Name)}
	case *conversation.ToolStarted:
		if c := r.calls[b.For]; c != nil && c.allowed == "" && r.approved.Allows(c.call.Request.Name) {
			c.allowed = "-y"
		}
	case *conversation.InquiryRequest:
		if c := r.calls[b.For]; c != nil {
			q := &conversation.Inquiry{Event: e, Request: b, Call: &c.call}
			c.call.Inquiries, r.asking[e.Seq] = append(c.call.Inquiries, q), q
		}
	case *conversation.InquiryResponse: // the person's last word on the call holds
		q := r.asking[b.For]
		if q == nil {
			return
		}
		q.Response = b
		permits := q.Request.Kind == conversation.KindRunTool || q.Request.Question.AnswerType.Type == "boolean"
		if c := r.calls[q.Request.For]; permits && (c.allowed == "" || b.By == conversation.ByUser) {
			c.allowed = allowedBy(b)
		}
	}
}

// allowedBy describes the author of an approval or a denial.
func allowedBy(b *conversation.InquiryResponse) string {
	switch {
	case b.Outcome == conversation.OutcomeCancelled || b.Outcome == conversation.OutcomeFailed:
		return ""
	case b.By == conversation.ByUser && b.Refuses() && b.Reason != "":
		return "you said no: " + safetext.OneLine(b.Reason)
	case b.By == conversation.ByUser && b.Refuses():
		return "you said no"
	case len(b.Arguments) > 0 && b.By == conversation.ByUser:
		return "you edited it"
	case b.By == conversation.ByUser && b.Choice() == conversation.AnswerRunNetwork:
		return "you allowed it, with network"
	case b.By == conversation.ByUser && (b.Reason == "" || b.Reason == turnloop.ReasonAlso):
		return "you said yes"
	case b.By == conversation.ByUser:
		return "allowed " + safetext.OneLine(b.Reason)
	case turnloop.ModeOf(b) != "":
		return "mode " + turnloop.ModeOf(b)
	case b.By == conversation.ByConfig && strings.HasPrefix(b.Reason, "allow rule: "):
		return "always allowed"
	}
	return safetext.OneLine(b.Reason)
}

// onScreen reports whether tool calls are shown as blocks: on a terminal, for a reader of more than
// one line at a time.
func (t *Turn) onScreen() bool { return t.width() > 0 && Redraws(t.env.Style, t.env.Get("TERM")) }

// textIndent is how many columns a terminal has before the model's text.
const textIndent = 2

// Rows below the line of a tool call.
const (
	diffRows   = 6
	outputRows = 3

	failureColumns = 400 // of a line of a tool that failed

	mostDecided = 28 // columns of who allowed a call, on a narrow screen
	leastCall   = 12 // columns of a call beside its effect
)

// block shows a tool call on a terminal: a line with its action, and below it its changes, or the end
// of its output.
func (t *Turn) block(e *conversation.Event, b *conversation.ToolCallResponse) {
	call := t.record.callOf(e, b)
	t.say(t.blockLine(e, b, call))
	if t.tools || b.Name == tool.Plan || b.IsError {
		t.result(e, b)
		return
	}
	for _, row := range t.below(e, b, call) {
		t.say(row)
	}
}

// callOf is the call that has the result, as far as it is known.
func (r *record) callOf(e *conversation.Event, b *conversation.ToolCallResponse) *callRecord {
	call := r.calls[b.For]
	if call == nil {
		return &callRecord{call: conversation.ToolCall{Request: &conversation.ToolCallRequest{Name: b.Name}}}
	}
	if call.call.Edited() != nil {
		call.thing = strings.TrimSuffix(strings.TrimPrefix(e.Subject, b.Name), ": "+tool.EffectIn(e.Subject, b.Name+call.thing))
	}
	return call
}

// blockLine is the line of a tool call: its action, and at the right edge the outcome, the duration, who
// allowed it, and the number of the event.
func (t *Turn) blockLine(e *conversation.Event, b *conversation.ToolCallResponse, call *callRecord) string {
	p, width := t.palette, t.width()
	name := safetext.Show(tool.Verb(b.Name))
	var made, took, decided string // at the right edge
	thing, effect := strings.TrimSpace(call.thing), tool.EffectIn(e.Subject, b.Name+call.thing)
	if argv := call.argv(); len(argv) > 0 {
		name, thing = safetext.EscapeAll(argv), ""
	}
	effect = tool.Shown(b.Name, strings.TrimSuffix(effect, ", edited by you")) // the right edge has that
	if e.Closed() == "declined" && call.allowed != "" {
		effect = call.allowed
	}
	if effect != "" && !withoutOutput(e.Subject) && (b.Name == "shell_run" || strings.HasPrefix(effect, "+")) {
		made, effect = effect, ""
	}
	if d := time.Duration(b.DurationMS) * time.Millisecond; d >= time.Second || b.Name == "shell_run" && d >= 100*time.Millisecond {
		took = conversation.Ago(d)
	}
	if !withoutOutput(e.Subject) {
		decided = safetext.Fit(call.allowed, max(width/2, mostDecided))
	}
	left, tail := safetext.OneLine(strings.TrimSpace(name+" "+thing)), ""
	if effect != "" {
		tail = " · " + safetext.OneLine(effect)
	}
	const lead = 4 // columns before the name
	var behind string
	var room int
	for i, parts := range [][]string{{made, took, decided}, {made, decided}, {decided}} {
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		behind = strings.TrimSpace(strings.Join(parts, " · ") + fmt.Sprintf(" @%d", e.Seq))
		room = max(width-lead-1-safetext.Columns(behind), 1)
		if i == 0 && safetext.Columns(left+tail) < room || i == 1 && room >= leastCall {
			break
		}
	}
	if t.tools && safetext.Columns(left+tail) > room {
		return terminal.WrapBelow("  "+blockMark(p, e, b)+" "+left+tail+"   "+p.Dim(behind), lead, width)
	}
	if withoutOutput(e.Subject) { // the reason stays whole, or has half of the row
		left = safetext.Fit(left, max(room-safetext.Columns(tail), room/2))
	}
	left = safetext.Fit(left+tail, room)
	gap := strings.Repeat(" ", max(width-lead-safetext.Columns(left)-safetext.Columns(behind), 1))
	if rest, found := strings.CutPrefix(left, name); found {
		left = p.Bold(name) + rest
	}
	return "  " + blockMark(p, e, b) + " " + left + gap + p.Dim(behind)
}

// blockMark stands before the line of a tool call.
func blockMark(p terminal.Palette, e *conversation.Event, b *conversation.ToolCallResponse) string {
	switch {
	case e.Closed() != "":
		return p.Dim("–")
	case b.IsError:
		return p.Red("✗")
	}
	return p.Green("●")
}

// argv is the command of a call of shell_run.
func (c *callRecord) argv() []string {
	var args struct{ Argv []string }
	if c.call.Request.Name != "shell_run" || json.Unmarshal(c.call.Arguments(), &args) != nil {
		return nil
	}
	return args.Argv
}

// changes are the lines that the call changed, as far as its result has them.
func (c *callRecord) changes(b *conversation.ToolCallResponse) []terminal.Change {
	var made struct{ Content string }
	changes := terminal.Changes(b.Content)
	if changes == nil && b.Name == "fs_create_file" && json.Unmarshal(c.call.Arguments(), &made) == nil {
		for i, line := range strings.Split(strings.TrimSuffix(made.Content, "\n"), "\n") {
			changes = append(changes, terminal.Change{Mark: '+', Number: i + 1, Text: line})
		}
	}
	return changes
}

// own reports whether the call is of a tool of jp's whose line describes its action.
func (c *callRecord) own(b *conversation.ToolCallResponse) bool {
	return tool.Verb(b.Name) != b.Name && c.argv() == nil
}

// marginIn is how many of a terminal's columns stay empty before the rows below the line of a tool
// call.
func marginIn(width int) int {
	if width < 60 {
		return 4
	}
	return 6
}

// below is the rows below the line of a tool call.
func (t *Turn) below(e *conversation.Event, b *conversation.ToolCallResponse, call *callRecord) (rows []string) {
	margin, changes := marginIn(t.width()), call.changes(b)
	switch {
	case !b.IsError && changes != nil:
		if !t.env.Verbose {
			changes = terminal.Brief(changes, diffRows)
		}
		drawing := terminal.Drawing{Palette: t.palette, File: strings.TrimSpace(call.thing), Margin: margin, Width: t.width()}
		return slices.Concat(drawing.Rows(changes)...)
	case !b.IsError && call.own(b):
		return nil
	}
	lines := safetext.Lines(safetext.Shown(b.Content))
	if b.IsError && !t.env.Verbose {
		lines = withoutEnding(lines)
	}
	if b.IsError && saysAll(e.Subject, lines) {
		return nil
	}
	if t.env.Verbose {
		return marginal(lines, margin, t.width())
	}
	for i, part := range ends(lines, b.IsError) {
		switch {
		case part.folded > 0:
			words := strings.Repeat(" ", margin) + "… " + conversation.Count(part.folded, "line")
			where := []string{words}
			switch {
			case t.env.Console != nil:
				where = withHint(words, "Ctrl+O", t.width())
			case !b.IsError || i > 0 || t.view != nil:
			case t.run.Transient():
				where = withHint(words, "(-v shows them)", t.width())
			default:
				where = withHint(words, action.PrintTools(t.run.ID.Short()).String(), t.width())
			}
			for _, row := range where {
				rows = append(rows, t.palette.Dim(row))
			}
		case b.IsError:
			rows = append(rows, marginal([]string{safetext.Fit(part.line, failureColumns)}, margin, t.width())...)
		default:
			rows = append(rows, strings.Repeat(" ", margin)+safetext.Fit(strings.ReplaceAll(part.line, "\t", "    "), max(t.width()-margin, 1)))
		}
	}
	return rows
}

// errorWords matches the words of a line that names an error.
var errorWords = lazy.Regexp(`(?i)\b(error|errors|fail|failed|failure|fatal|panic|exception|undefined|cannot|denied|not found|no such)\b`)

// An outputPart is a line of an output, or a number of lines that are folded.
type outputPart struct {
	line   string
	folded int
}

// ends is the last lines of an output, and of a program that failed before them the first one that
// names an error. The lines between are folded.
func ends(lines []string, failed bool) (parts []outputPart) {
	from := max(0, len(lines)-outputRows)
	above := lines[:from]
	fold := func(lines []string) {
		n := len(lines) + leftOut(lines)
		switch {
		case n == 1: // it takes no more room than its count
			parts = append(parts, outputPart{line: lines[0]})
		case n > 1:
			parts = append(parts, outputPart{folded: n})
		}
	}
	if i := slices.IndexFunc(above, errorWords().MatchString); failed && i >= 0 {
		fold(above[:i])
		parts, above = append(parts, outputPart{line: above[i]}), above[i+1:]
	}
	fold(above)
	for _, line := range lines[from:] {
		parts = append(parts, outputPart{line: line})
	}
	return parts
}
