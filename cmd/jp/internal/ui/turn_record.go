package ui

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"jp/agent/problem"
	"jp/agent/resume"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// A record has the links between events, and the last speaker.
type record struct {
	replaced map[int]bool   // requests that another one stands for, by seq
	asked    map[int]string // the words before the answer to a question, by the question's seq
	calls    map[int]*callRecord
	asking   map[int]*conversation.Inquiry // about calls, by seq
	approved conversation.Approval
	speaker  string
	wrote    bool
}

func recordOf(events []*conversation.Event) record {
	r := record{replaced: map[int]bool{}, asked: map[int]string{}, calls: map[int]*callRecord{}, asking: map[int]*conversation.Inquiry{}}
	calls := map[int][2]string{} // names and objects
	for _, e := range events {
		r.follow(e)
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			if b.Replaces != nil {
				r.replaced[*b.Replaces] = true
			}
		case *conversation.ToolCallRequest:
			calls[e.Seq] = [2]string{b.Name, strings.TrimPrefix(e.Subject, "call "+b.Name)}
		case *conversation.InquiryRequest:
			call := calls[b.For]
			r.asked[e.Seq] = problem.OneLine(tool.AskedBy(call[0], call[1], b.Question.Text)) + " — "
		}
	}
	return r
}

// Print prints events of the view, and behind an incomplete turn the question that it waits for.
// The view may have other events than before.
func (t *Turn) Print(events []*conversation.Event) {
	last := t.record
	t.record = recordOf(t.view.View.Events)
	t.record.speaker, t.record.wrote = last.speaker, last.wrote
	for _, e := range events {
		t.event(e)
	}
	if len(events) > 0 && t.view.View.Incomplete(events[len(events)-1]) {
		t.waiting()
	}
}

func asItIs(text string) string { return text }

// request prints a question of a person. While the turn runs, it is on the screen at which they asked it.
func (t *Turn) request(e *conversation.Event, b *conversation.ChatRequest) {
	switch {
	case t.style == asItRan, t.view == nil && t.follows && b.Content != t.said:
		t.env.Entered(t.out, t.width(), b.Content)
		fmt.Fprintln(t.out)
		return
	case t.view == nil:
		return
	}
	t.speaks(e, e.AskedBy(), t.palette.Cyan)
	if t.record.replaced[e.Seq] {
		t.paragraph("(replaced by what follows) "+problem.OneLine(b.Content), t.palette.Dim)
		return
	}
	text := b.Content
	if t.style == "brief" {
		text = problem.OneLine(text)
	}
	t.paragraph(text, asItIs)
	t.rest(e)
	var names []string
	for _, f := range b.Attachments {
		names = append(names, safetext.Show(f.Name))
	}
	if len(names) > 0 {
		t.paragraph("Attached: "+strings.Join(names, ", "), t.palette.Dim)
	}
}

// Entered prints the message that a person entered.
func (e *Env) Entered(w io.Writer, width int, text string) {
	lead, bold := "❯ ", e.Palette(e.Stdout).Bold
	for line := range strings.Lines(safetext.Clean(text)) {
		for row := range strings.SplitSeq(terminal.Wrap(strings.TrimSuffix(line, "\n"), width-2), "\n") {
			fmt.Fprintln(w, lead+bold(row))
			lead = "  "
		}
	}
}

// speaks names the speaker, once until another one speaks.
func (t *Turn) speaks(e *conversation.Event, who string, colour func(string) string) {
	if t.view == nil || t.style == asItRan || who == t.record.speaker {
		return
	}
	t.record.speaker = who
	if t.record.wrote {
		fmt.Fprintln(t.out)
	}
	t.record.wrote = true
	who = safetext.Clean(who)
	line, right := t.palette.Bold(colour(who)), fmt.Sprintf("@%d", e.Seq)
	if gap := t.view.Width - safetext.Columns(who) - len(right); gap > 0 {
		line += strings.Repeat(" ", gap) + t.palette.Dim(right)
	}
	fmt.Fprintln(t.out, line)
}

// rest marks a text that is not whole. In brief style no reader expects that.
func (t *Turn) rest(e *conversation.Event) {
	if t.view != nil && t.style != "brief" {
		t.view.PrintRest(t.out, e)
	}
}

// reasoning prints the reasoning of the model. Without colour words and an indent tell
// it from the answer below it.
func (t *Turn) reasoning(text string) {
	if t.palette.On() {
		t.paragraph(text, t.palette.Dim)
		return
	}
	fmt.Fprintln(t.out, "Reasoning:")
	for _, line := range marginal(safetext.Lines(text), 4, t.view.Width) {
		fmt.Fprintln(t.out, line)
	}
	fmt.Fprintln(t.out)
}

// Said prints words of the model.
func (t *Turn) Said(part conversation.Part, text string) {
	p := t.prose(part)
	_, _ = p.Write([]byte(text)) // the reader may have left
	_ = p.Close()
}

// paragraph prints a text whose lines break between words. They go on below their beginning.
func (t *Turn) paragraph(text string, colour func(string) string) {
	for _, line := range safetext.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for row := range strings.SplitSeq(terminal.WrapBelow(line, min(indent, t.view.Width/3), t.view.Width), "\n") {
			fmt.Fprintln(t.out, colour(row))
		}
	}
}

// waiting prints the actions of the incomplete turn and the question it waits for, and the text that
// was on the screen when jp ended and is in no event.
func (t *Turn) waiting() {
	v := t.view.View
	if v.Remote == "" {
		for _, s := range resume.Unrecorded(v.Repo, v.ID, v.Tail) {
			text := strings.TrimRight(s.Text, " \n") + resume.NotRecorded
			switch {
			case s.Part == conversation.PartReasoning:
				if t.style == "full" {
					t.reasoning(text)
				}
			case t.style == "brief":
				t.paragraph(problem.OneLine(s.Text)+resume.NotRecorded, t.palette.Dim)
			default:
				t.Said(s.Part, text)
			}
		}
	}
	fmt.Fprintln(t.out)
	t.say(t.palette.Yellow("⏳ Incomplete turn (" + resume.TailWords(v.Repo, v.ID, cmp.Or(v.Waits, v.Tail.Status())) + ")"))
	ledger := v.Tail.Ledger()
	for _, call := range ledger.ToolCalls {
		running := call.Open() && v.Repo.Locks.ToolAlive(v.ID, call.Event.Seq)
		t.say("  " + resume.CallWords(v, call, running))
	}
	if ledger.CutOff() != nil {
		t.say("  " + resume.CutOffWords)
	}
}
