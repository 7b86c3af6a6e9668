package ui

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// A transcript prints a conversation for reading.
type transcript struct {
	screen  *ScreenView
	w       io.Writer
	style   string
	tools   bool // with all that tools said
	speaker string
	wrote   bool

	replaced map[int]bool   // requests that another one stands for, by seq
	asked    map[int]string // what stands before the answer to a question, by the question's seq
}

func NewTranscript(v *ScreenView, w io.Writer, style string) *transcript {
	t := &transcript{screen: v, w: w, style: style, replaced: map[int]bool{}, asked: map[int]string{}}
	calls := map[int]string{}
	for _, e := range v.View.Events {
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			if b.Replaces != nil {
				t.replaced[*b.Replaces] = true
			}
		case *conversation.ToolCallRequest:
			calls[e.Seq] = strings.TrimPrefix(e.Subject, "call ")
		case *conversation.InquiryRequest:
			question := problem.OneLine(b.Question.Text)
			if b.Kind != conversation.KindRunTool { // that names the call itself
				question = calls[b.For] + " asks: " + question
			}
			t.asked[e.Seq] = question + " — "
		}
	}
	return t
}

// WithTools prints all that tools said, too.
func (t *transcript) WithTools(tools bool) *transcript {
	t.tools = tools
	return t
}

func (t *transcript) Print(events []*conversation.Event) {
	for _, e := range events {
		t.event(e)
	}
	if len(events) > 0 && t.screen.View.Incomplete(events[len(events)-1]) {
		t.waiting()
	}
}

func (t *transcript) event(e *conversation.Event) {
	switch b := e.Body.(type) {
	case *conversation.TurnStart:
		t.speaker = ""
	case *conversation.ChatRequest:
		if t.replaced[e.Seq] {
			t.head(e, e.AskedBy(), t.screen.Palette.Cyan)
			t.paragraph("(replaced by what follows) "+problem.OneLine(b.Content), t.screen.Palette.Dim)
			return
		}
		t.says(e, e.AskedBy(), b.Content, t.screen.Palette.Cyan)
		t.attached(b.Attachments)
	case *conversation.ChatResponse:
		t.response(e, b)
	case *conversation.ToolCallResponse:
		t.tool(e, b)
	case *conversation.Workspace, *conversation.Resumed, *conversation.Restored, *conversation.TurnStopped,
		*conversation.TurnDiscarded, *conversation.TurnInterrupted, *conversation.ForkOrigin, *conversation.Compaction, *conversation.CompactionUndone:
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
			t.head(e, e.Author, t.screen.Palette.Green)
			t.reasoning(text)
			t.end(e)
		}
	case b.Part == conversation.PartMessage && t.style != "brief" && t.screen.Env.Rendered():
		t.head(e, e.Author, t.screen.Palette.Green)
		t.screen.Markdown(t.w, text)
		t.end(e)
	case t.style == "brief":
		t.says(e, e.Author, text, t.screen.Palette.Green)
	default: // as it was written, to be copied
		t.head(e, e.Author, t.screen.Palette.Green)
		for _, line := range t.lines(text) {
			fmt.Fprintln(t.w, line)
		}
		t.end(e)
	}
}

// reasoning prints what the model thought. Without colour words and an indent tell
// it from the answer below it.
func (t *transcript) reasoning(text string) {
	if t.screen.Palette.On() {
		t.paragraph(text, t.screen.Palette.Dim)
		return
	}
	t.paragraph("Reasoning:", t.screen.Palette.Dim)
	for _, line := range marginal(t.lines(text), t.screen.Width) {
		fmt.Fprintln(t.w, line)
	}
	t.paragraph("", t.screen.Palette.Dim)
}

// Markdown lays out what the model said, as it was shown when it was said.
func (v *ScreenView) Markdown(w io.Writer, text string) {
	m := terminal.NewMarkdown(w, v.Width, v.Palette)
	m.Within(v.time)
	_, _ = io.WriteString(m, text) // who reads it may have seen enough
	_ = m.Close()
}

func (t *transcript) says(e *conversation.Event, who, text string, colour func(string) string) {
	t.head(e, who, colour)
	if t.style == "brief" {
		text = problem.OneLine(text)
	}
	t.paragraph(text, func(s string) string { return s })
	t.end(e)
}

// end says where a text is not whole; in brief style no reader expects that.
func (t *transcript) end(e *conversation.Event) {
	if t.style != "brief" {
		t.screen.PrintRest(t.w, e)
	}
}

// attached names what went with a request.
func (t *transcript) attached(files []conversation.Attachment) {
	var names []string
	for _, f := range files {
		names = append(names, safetext.Show(f.Name))
	}
	if len(names) > 0 {
		t.paragraph("Attached: "+strings.Join(names, ", "), t.screen.Palette.Dim)
	}
}

// head names who speaks, once until another one speaks.
func (t *transcript) head(e *conversation.Event, who string, colour func(string) string) {
	if who == t.speaker {
		return
	}
	t.speaker = who
	if t.wrote {
		fmt.Fprintln(t.w)
	}
	t.wrote = true
	line := t.screen.Palette.Bold(colour(safetext.Clean(who)))
	right := fmt.Sprintf("@%d", e.Seq)
	if gap := t.screen.Width - safetext.Columns(safetext.Clean(who)) - len(right); t.screen.Width > 0 && gap > 0 {
		line += strings.Repeat(" ", gap) + t.screen.Palette.Dim(right)
	}
	fmt.Fprintln(t.w, line)
}

// lines are those of a text, clean.
func (t *transcript) lines(text string) []string {
	return strings.Split(strings.TrimRight(safetext.Clean(text), "\n"), "\n")
}

// paragraph prints a text whose lines break between words. They go on below their beginning.
func (t *transcript) paragraph(text string, colour func(string) string) {
	for _, line := range t.lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for row := range strings.SplitSeq(terminal.WrapBelow(line, min(indent, t.screen.Width/3), t.screen.Width), "\n") {
			fmt.Fprintln(t.w, colour(row))
		}
	}
}

// tool prints what a tool call came to, on one line.
func (t *transcript) tool(e *conversation.Event, b *conversation.ToolCallResponse) {
	if t.style == "chat" {
		return
	}
	t.wrapped("  " + endMark(t.screen.Palette, e) + " " + safetext.Clean(e.Subject))
	if t.tools {
		t.output(t.w, e, b)
	} else if b.Name == tool.Plan && !b.IsError {
		for _, row := range planRows(b, t.screen.Width) {
			fmt.Fprintln(t.w, row)
		}
	}
}

func (t *transcript) aside(e *conversation.Event) {
	if t.style == "chat" {
		return
	}
	words := e.Subject
	if b, ok := e.Body.(*conversation.TurnStopped); ok && b.Reason != "" { // a subject is cut
		words = "stopped by " + string(b.By) + ": " + problem.OneLine(b.Reason)
	}
	t.line(words)
}

func (t *transcript) line(text string) {
	for row := range strings.SplitSeq(terminal.Wrap("  "+safetext.Clean(text), t.screen.Width), "\n") {
		fmt.Fprintln(t.w, t.screen.Palette.Dim(row))
	}
}

// wrapped prints a line, broken between words.
func (t *transcript) wrapped(line string) { fmt.Fprintln(t.w, terminal.Wrap(line, t.screen.Width)) }

// waiting prints what the incomplete turn has done and waits for.
func (t *transcript) waiting() {
	ledger := t.screen.View.Tail.Ledger()
	if t.screen.View.Remote == "" {
		t.unrecorded()
	}
	fmt.Fprintln(t.w)
	t.wrapped(t.screen.Palette.Yellow("⏳ Incomplete turn (" + interrupted.TailWords(t.screen.View.Repo, t.screen.View.ID, cmp.Or(t.screen.View.Waits, t.screen.View.Tail.Status())) + ")"))
	for _, call := range ledger.ToolCalls {
		running := call.Open() && t.screen.View.Repo.Locks.ToolAlive(t.screen.View.ID, call.Event.Seq)
		t.wrapped("  " + interrupted.CallWords(t.screen.View, call, running))
	}
	if ledger.CutOff() != nil {
		t.wrapped("  " + interrupted.CutOffWords)
	}
}

// unrecorded quotes what was on the screen when jp ended, and is in no event.
func (t *transcript) unrecorded() {
	for _, s := range interrupted.Unrecorded(t.screen.View.Repo, t.screen.View.ID, t.screen.View.Tail) {
		text := strings.TrimRight(s.Text, " \n") + interrupted.NotRecorded
		switch {
		case s.Part == conversation.PartReasoning:
			if t.style == "full" {
				t.reasoning(text)
			}
		case t.style == "brief":
			t.paragraph(problem.OneLine(s.Text)+interrupted.NotRecorded, t.screen.Palette.Dim)
		case t.screen.Env.Rendered():
			t.screen.Markdown(t.w, text)
		default:
			t.paragraph(text, func(s string) string { return s })
		}
	}
}

// PrintRest says on a line of its own that the end of an event's text is not here.
func (v *ScreenView) PrintRest(w io.Writer, e *conversation.Event) {
	if rest := v.View.Rest(e); rest != "" {
		fmt.Fprintln(w, v.Palette.Yellow(rest))
	}
}
