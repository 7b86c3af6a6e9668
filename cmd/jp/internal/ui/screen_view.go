package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/terminal/highlight"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// A ScreenView is a conversation as a command shows it on stdout.
type ScreenView struct {
	View    *repo.View
	Env     *Env
	Palette terminal.Palette
	Width   int // of the terminal, 0 if there is none
	time    *highlight.Time
}

// OnScreen shows a conversation.
func (e *Env) OnScreen(v *repo.View) *ScreenView {
	d := &ScreenView{View: v, Env: e, Palette: e.Palette(e.Stdout), time: highlight.NewTime()}
	if IsTerminal(e.Stdout) {
		d.Width = e.Columns(e.Stdout)
	}
	return d
}

// Line is the subject of an event. For an answer it adds the tool or the question, and the reason if
// there was no answer.
func (v *ScreenView) Line(e *conversation.Event) string {
	line := EventWords(e)
	given, ok := e.Body.(*conversation.InquiryResponse)
	if !ok {
		return line
	}
	if why := Unanswered(e); why != "" {
		line += ": " + problem.OneLine(why)
	}
	if asked := repo.BySeq(v.View.Events, given.For); asked != nil {
		if b, ok := asked.Body.(*conversation.InquiryRequest); ok {
			to := strconv.Quote(conversation.Shorten(problem.OneLine(b.Question.Text), answeredColumns))
			call := repo.BySeq(v.View.Events, b.For)
			if call != nil && (b.Kind == conversation.KindRunTool || b.Kind == conversation.KindHook) {
				to = conversation.Shorten(problem.OneLine(strings.TrimPrefix(EventWords(call), "call ")), answeredColumns)
			}
			line += ", to " + to
		}
	}
	return line
}

// EventWords is the subject of an event, with the words for jp's own tools in the place of their names.
func EventWords(e *conversation.Event) string {
	words := e.Subject
	switch b := e.Body.(type) {
	case *conversation.ToolCallRequest, *conversation.ToolStarted, *conversation.InquiryRequest:
		words = tool.Event(words)
	case *conversation.ToolCallResponse:
		words = tool.Done(b.Name, words)
	}
	return safetext.Clean(words)
}

// answeredColumns is how much of a question stands beside its answer.
const answeredColumns = 40

// Unanswered is why a question got no answer, "" for other events. Subjects do not
// say it.
func Unanswered(e *conversation.Event) string {
	if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.Outcome != conversation.OutcomeAnswered {
		return b.Reason
	}
	return ""
}

// PrintRest says on a line of its own that the end of an event's text is not here.
func (v *ScreenView) PrintRest(w io.Writer, e *conversation.Event) {
	if rest := v.View.Rest(e); rest != "" {
		fmt.Fprintln(w, v.Palette.Yellow(rest))
	}
}

// endMark stands before the line of an event: "✗" for a tool call that failed, "–" for one that the
// user ended.
func endMark(p terminal.Palette, e *conversation.Event) string {
	b, ok := e.Body.(*conversation.ToolCallResponse)
	switch {
	case e.Closed() != "":
		return p.Dim("–")
	case ok && b.IsError:
		return p.Red("✗")
	}
	return p.Dim("·")
}
