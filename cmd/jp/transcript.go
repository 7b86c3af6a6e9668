package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
)

// A transcript prints a conversation for reading.
type transcript struct {
	*screenView
	w       io.Writer
	style   string
	speaker string
	wrote   bool

	replaced map[int]bool   // requests that another one stands for, by seq
	asked    map[int]string // what stands before the answer to a question, by the question's seq
}

func newTranscript(v *screenView, w io.Writer, style string) *transcript {
	t := &transcript{screenView: v, w: w, style: style, replaced: map[int]bool{}, asked: map[int]string{}}
	calls := map[int]string{}
	for _, e := range v.events {
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			if b.Replaces != nil {
				t.replaced[*b.Replaces] = true
			}
		case *conversation.ToolCallRequest:
			calls[e.Seq] = strings.TrimPrefix(e.Subject, "call ")
		case *conversation.InquiryRequest:
			question := oneLine(b.Question.Text)
			if b.Kind != conversation.KindRunTool { // that names the call itself
				question = calls[b.For] + " asks: " + question
			}
			t.asked[e.Seq] = question + " — "
		}
	}
	return t
}

func (t *transcript) print(events []*conversation.Event) {
	for _, e := range events {
		t.event(e)
	}
	if len(events) > 0 && t.incomplete(events[len(events)-1]) {
		t.waiting()
	}
}

func (t *transcript) event(e *conversation.Event) {
	switch b := e.Body.(type) {
	case *conversation.TurnStart:
		t.speaker = ""
	case *conversation.ChatRequest:
		if t.replaced[e.Seq] {
			t.head(e, e.Author, t.palette.Cyan)
			t.paragraph("(replaced by what follows) "+oneLine(b.Content), t.palette.Dim)
			return
		}
		t.says(e, e.Author, b.Content, t.palette.Cyan)
		t.attached(b.Attachments)
	case *conversation.ChatResponse:
		t.response(e, b)
	case *conversation.ToolCallResponse:
		t.tool(e, b)
	case *conversation.Workspace, *conversation.Resumed, *conversation.Restored, *conversation.TurnStopped,
		*conversation.TurnDiscarded, *conversation.TurnInterrupted, *conversation.ForkOrigin:
		t.aside(e)
	case *conversation.InquiryResponse:
		if b.By == conversation.ByUser && t.style == "full" {
			t.line(t.asked[b.For] + strings.TrimPrefix(e.Subject, "answer: "))
		}
	default:
		if t.style == "full" && e.Type() != conversation.TypeToolCallRequest && e.Type() != conversation.TypeInquiryRequest {
			t.aside(e)
		}
	}
}

func (t *transcript) response(e *conversation.Event, b *conversation.ChatResponse) {
	text := b.Text
	if b.Partial {
		text += " …(cut off)"
	}
	switch {
	case strings.TrimSpace(b.Text) == "":
	case b.Part == conversation.PartReasoning:
		if t.style == "full" {
			t.head(e, e.Author, t.palette.Green)
			t.reasoning(text)
			t.end(e)
		}
	case b.Part == conversation.PartMessage && t.style != "brief" && t.env.rendered():
		t.head(e, e.Author, t.palette.Green)
		t.markdown(t.w, text)
		t.end(e)
	default:
		t.says(e, e.Author, text, t.palette.Green)
	}
}

// reasoning prints what the model thought. Without colour words and an indent tell
// it from the answer below it.
func (t *transcript) reasoning(text string) {
	if t.palette.On() {
		t.paragraph(text, t.palette.Dim)
		return
	}
	t.paragraph("Reasoning:", t.palette.Dim)
	t.paragraph(text, func(line string) string {
		if line == "" {
			return ""
		}
		return "    " + line
	})
	t.paragraph("", t.palette.Dim)
}

// markdown lays out what the model said, as it was shown when it was said.
func (v *screenView) markdown(w io.Writer, text string) {
	m := terminal.NewMarkdown(w, v.width, v.palette)
	_, _ = io.WriteString(m, text) // who reads it may have seen enough
	_ = m.Close()
}

func (t *transcript) says(e *conversation.Event, who, text string, colour func(string) string) {
	t.head(e, who, colour)
	if t.style == "brief" {
		text = oneLine(text)
	}
	t.paragraph(text, func(s string) string { return s })
	t.end(e)
}

// end says where a text is not whole; in brief style that is nobody's expectation.
func (t *transcript) end(e *conversation.Event) {
	if t.style != "brief" {
		t.printRest(t.w, e)
	}
}

// attached names what went with a request.
func (t *transcript) attached(files []conversation.Attachment) {
	var names []string
	for _, f := range files {
		names = append(names, safetext.Show(f.Name))
	}
	if len(names) > 0 {
		t.paragraph("Attached: "+strings.Join(names, ", "), t.palette.Dim)
	}
}

// head names who speaks, once until somebody else does.
func (t *transcript) head(e *conversation.Event, who string, colour func(string) string) {
	if who == t.speaker {
		return
	}
	t.speaker = who
	if t.wrote {
		fmt.Fprintln(t.w)
	}
	t.wrote = true
	line := t.palette.Bold(colour(safetext.Clean(who)))
	right := fmt.Sprintf("@%d", e.Seq)
	if gap := t.width - safetext.Columns(safetext.Clean(who)) - len(right); t.width > 0 && gap > 0 {
		line += strings.Repeat(" ", gap) + t.palette.Dim(right)
	}
	fmt.Fprintln(t.w, line)
}

func (t *transcript) paragraph(text string, colour func(string) string) {
	for line := range strings.Lines(strings.TrimRight(safetext.Clean(text), "\n") + "\n") {
		fmt.Fprintln(t.w, colour(strings.TrimSuffix(line, "\n")))
	}
}

// tool prints what a tool call came to, on one line.
func (t *transcript) tool(e *conversation.Event, b *conversation.ToolCallResponse) {
	if t.style == "chat" {
		return
	}
	mark, colour := "·", t.palette.Dim
	if b.IsError {
		mark, colour = "✗", t.palette.Red
	}
	fmt.Fprintf(t.w, "  %s %s\n", colour(mark), safetext.Clean(e.Subject))
}

func (t *transcript) aside(e *conversation.Event) {
	if t.style != "chat" {
		t.line(e.Subject)
	}
}

func (t *transcript) line(text string) {
	fmt.Fprintf(t.w, "  %s\n", t.palette.Dim(safetext.Clean(text)))
}

// tailWords say what a conversation's incomplete turn waits for, or that it runs.
func (r *repo) tailWords(id conversation.ID, status conversation.Status) string {
	if _, held := r.locks.Held(id); held && status != conversation.StatusInput {
		return "running"
	}
	return map[conversation.Status]string{
		conversation.StatusInput: "waiting for input", conversation.StatusTools: "pending tool execution",
		conversation.StatusFollowUp: "pending follow-up", conversation.StatusResponse: "pending LLM response",
	}[status]
}

// waiting prints what the incomplete turn has done and waits for.
func (t *transcript) waiting() {
	ledger := t.tail.Ledger()
	fmt.Fprintf(t.w, "\n%s\n", t.palette.Yellow("⏳ Incomplete turn ("+t.repo.tailWords(t.id, cmp.Or(t.waits, t.tail.Status()))+")"))
	for _, call := range ledger.ToolCalls {
		running := call.Open() && t.repo.locks.ToolAlive(t.id, call.Event.Seq)
		fmt.Fprintln(t.w, "  "+t.callWords(call, running))
	}
	if ledger.CutOff() != nil {
		fmt.Fprintln(t.w, "  "+cutOffWords)
	}
}

// cutOffWords say that calls may be missing.
const cutOffWords = "The answer was cut off while it asked for tools."

// callState is a tool call of an incomplete turn, on one line, under the name
// given; running is whether an open one runs now.
func callState(call *conversation.ToolCall, name string, running bool) string {
	for _, q := range call.Inquiries {
		if q.Live() {
			return fmt.Sprintf("⏸ %s — waiting for input: %q", name, safetext.Clean(q.Request.Question.Text))
		}
	}
	switch {
	case call.Undelivered():
		return "⏸ " + name + " — ran; its result waits to be delivered"
	case !call.Open() && call.Result.IsError:
		return "✗ " + name + " — failed"
	case !call.Open():
		return "✓ " + name + " — completed"
	case running:
		return "▶ " + name + " — running"
	case call.Lost():
		return "? " + name + " — started; its outcome is unknown"
	case call.Started != nil:
		return "○ " + name + " — asked, and was answered; not run again yet"
	}
	return "○ " + name + " — not started"
}

// printRest says on a line of its own that the end of an event's text is not here.
func (v *screenView) printRest(w io.Writer, e *conversation.Event) {
	if rest := v.rest(e); rest != "" {
		fmt.Fprintln(w, v.palette.Yellow(rest))
	}
}
