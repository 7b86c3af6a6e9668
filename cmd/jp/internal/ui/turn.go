package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"jp/agent"
	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// A Turn prints turns for a person: as they run, as an [agent.Output], or from events.
type Turn struct {
	env     *Env
	view    *ScreenView // of the events; nil: the turn runs
	style   string      // full, chat or brief; asItRan; "" while the turn runs
	tools   bool        // all output of tools is printed
	palette terminal.Palette
	out     io.Writer // gets the lines of the turn
	message message
	record  record

	beside  bool            // it is beside the conversation
	child   conversation.ID // the delegate whose turn it is; "": none
	live    *liveLine       // nil: the activity of the turn is not shown
	run     agent.RunInfo
	started time.Time
	changed changedFiles
	told    time.Time // when a tool's progress was told in a line
	follows bool      // the turn runs in another process
	said    string    // the person's message to that process from here
}

// newTurn prints a running turn, or beside it the results of a delegate's tools: the delegate's own
// text is for the turn.
func (e *Env) newTurn(live *liveLine, child conversation.ID) *Turn {
	return &Turn{env: e, palette: e.Palette(e.Stderr), out: e.Results(), live: live, child: child, message: message{shown: map[int]int{}}, record: recordOf(nil)}
}

// NewTurn prints turns from the events of a conversation.
func NewTurn(v *ScreenView, w io.Writer, style string, tools bool) *Turn {
	return &Turn{
		env: v.Env, view: v, style: style, tools: tools, palette: v.Palette, out: w,
		message: message{shown: map[int]int{}}, record: recordOf(v.View.Events),
	}
}

func (t *Turn) event(e *conversation.Event) {
	chat, full := t.style == "chat", t.style == "full"
	switch b := e.Body.(type) {
	case *conversation.TurnStart:
		t.start(e, b)
	case *conversation.ChatRequest:
		t.request(e, b)
	case *conversation.ChatResponse:
		t.response(e, b)
	case *conversation.ToolCallRequest:
		t.closeMessage()
	case *conversation.InquiryRequest:
	case *conversation.ToolCallResponse:
		t.closeMessage()
		switch {
		case chat:
		case t.onScreen():
			t.block(e, b)
		default:
			t.line(e, tool.Done(b.Name, e.Subject))
			t.result(e, b)
		}
	case *conversation.Workspace:
		if full || !chat && !strings.HasPrefix(e.Subject, conversation.Recorded) {
			t.line(e, e.Subject)
		}
	case *conversation.Compaction:
		if !chat {
			t.line(e, e.Subject)
		}
	case *conversation.InquiryResponse:
		if full && b.By == conversation.ByUser {
			t.line(e, t.record.asked[b.For]+strings.TrimPrefix(e.Subject, "answer: "))
		}
	case *conversation.Resumed, *conversation.Restored, *conversation.TurnStopped, *conversation.TurnDiscarded,
		*conversation.TurnInterrupted, *conversation.ForkOrigin, *conversation.CompactionUndone:
		words := e.Subject
		if b, ok := e.Body.(*conversation.TurnStopped); ok && b.Reason != "" { // a subject is cut
			words = "stopped by " + string(b.By) + ": " + problem.OneLine(b.Reason)
		}
		switch b := e.Body.(type) {
		case *conversation.Restored:
			words = b.Shown(words)
		case *conversation.Resumed:
			words = tool.Resumed(words)
		}
		if full || t.style == "brief" {
			t.line(e, words)
		}
	case *conversation.TurnDone:
		switch {
		case full:
			t.line(e, e.Subject)
		case t.style == asItRan:
			t.say(t.palette.Dim(safetext.Clean(e.Subject)))
		}
	default:
		if full {
			t.line(e, e.Subject)
		}
	}
}

// response prints the rest of a part of an answer.
func (t *Turn) response(e *conversation.Event, b *conversation.ChatResponse) {
	text, written := b.Text, strings.TrimSpace(b.Text) != ""
	if b.Partial {
		text += " …(cut off)"
	}
	switch {
	case b.Part == conversation.PartReasoning:
		if written && t.style == "full" {
			t.speaks(e, e.Author, t.palette.Green)
			t.reasoning(text)
			t.rest(e)
		}
	case t.atEnd():
		if written && b.Part == conversation.PartMessage && b.Finish == "" {
			t.say(safetext.Clean(b.Text))
		}
	case t.style == "brief":
		if written {
			t.speaks(e, e.Author, t.palette.Green)
			t.paragraph(problem.OneLine(text), asItIs)
		}
	default:
		if written {
			t.speaks(e, e.Author, t.palette.Green)
			t.listen(b.Call)
			if n := t.message.shown[e.Seq]; n < len(text) {
				t.write(b.Part, e.Seq, n, text[n:])
			}
		}
		t.closeMessage()
		t.rest(e)
	}
}

// result prints below the line of a tool call its output, the steps of a plan, or why it failed.
func (t *Turn) result(e *conversation.Event, b *conversation.ToolCallResponse) {
	switch {
	case t.tools:
		t.output(e, b)
	case b.Name == tool.Plan && !b.IsError:
		for step := range strings.SplitSeq(safetext.Clean(b.Content), "\n") {
			t.say(terminal.WrapBelow("    "+step, 8, t.width()))
		}
	case b.IsError && (t.view == nil || t.onScreen()) && !b.Cancelled && !withoutOutput(e.Subject):
		for _, row := range t.below(e, b, t.record.callOf(e, b)) {
			t.say(row)
		}
	}
}

// line prints the subject of an event behind its mark.
func (t *Turn) line(e *conversation.Event, words string) {
	t.say(endMark(t.palette, e) + " " + safetext.Clean(words))
}

// say prints a line of jp's own.
func (t *Turn) say(line string) {
	switch {
	case t.view != nil:
		fmt.Fprintln(t.out, terminal.Wrap(line, t.view.Width))
	case !t.env.Quiet:
		t.aside(func() { fmt.Fprintln(t.env.Messages(), line) })
	}
}

// width is the column at which lines are broken, 0: they are not.
func (t *Turn) width() int {
	if t.view != nil {
		return t.view.Width
	}
	return t.env.MessageColumns()
}
