package blame

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
)

// An origin is the reason for a tool's change.
type origin struct {
	call    *conversation.ToolCall
	model   string              // "provider/name"
	because *conversation.Event // the result that the model had seen last
	request *conversation.Event // the user's request
	allowed *conversation.Event // who let the tool run; nil if it ran freely
	permit  string              // in words
}

// originOf follows a tool's result back to the request, nil for other events.
func originOf(v *repo.View, e *conversation.Event) *origin {
	response, ok := e.Body.(*conversation.ToolCallResponse)
	if !ok {
		return nil
	}
	var turn []*conversation.Event
	for _, other := range v.Events {
		if other.Turn == e.Turn {
			turn = append(turn, other)
		}
	}
	ledger := conversation.LedgerOf(turn)
	o := &origin{call: ledger.ToolCall(response.For)}
	if o.call == nil {
		return nil
	}
	for _, other := range turn {
		if other.Seq >= o.call.Event.Seq {
			break
		}
		switch b := other.Body.(type) {
		case *conversation.TurnStart:
			o.model = b.Model
		case *conversation.ToolCallResponse:
			o.because = other
		case *conversation.ChatRequest:
			o.request = other
		}
	}
	if permit := PermitsOf(v.Repo, v.Events); permit != nil && !e.Signed {
		o.permit = permit(response.ID)
		return o
	}
	o.allow(turn)
	return o
}

// Words for calls without a question.
const (
	unattended = "not asked: the tool runs unattended"
	inAdvance  = "approved in advance (-y)"
)

// allow finds the answer, or the approval in advance, that let the call run.
func (o *origin) allow(turn []*conversation.Event) {
	o.permit = unattended
	q := o.call.Permission()
	for _, e := range turn {
		switch b := e.Body.(type) {
		case *conversation.InquiryResponse:
			if q != nil && q.Response == b {
				o.allowed, o.permit = e, e.Author+": "+answerOf(e)
				return
			}
		case *conversation.ForkOrigin:
			if e.Seq < o.call.Response.Seq {
				o.allowed, o.permit = nil, unattended
			}
		case *conversation.TurnStart:
			o.approve(e, b.Approved)
		case *conversation.Resumed:
			o.approve(e, b.Approved)
		}
	}
}

func (o *origin) approve(e *conversation.Event, approved conversation.Approval) {
	if e.Seq < o.call.Response.Seq && approved.Allows(o.call.Request.Name) {
		o.allowed, o.permit = e, inAdvance
	}
}

// answerOf is an answer in the words of its subject.
func answerOf(e *conversation.Event) string {
	return strings.TrimSuffix(strings.TrimPrefix(e.Subject, "answer: "), " (user)")
}

// Explained is a whole event as a [BlamedLine].
func Explained(v *repo.View, e *conversation.Event) BlamedLine {
	s, _ := new(recorder).sourceOf(e)
	return BlamedLine{
		repo: v.Repo, record: &record{Conversation: v.Name()}, event: &s, alone: true, origin: originOf(v, e), subject: e.Subject,
	}
}

// Trace reads from the line's conversation why a tool wrote it.
func (l *BlamedLine) Trace(ctx context.Context, h *repo.Host) error {
	if l.event == nil {
		return nil
	}
	v, err := l.repo.Find().View(ctx, h, l.record.Conversation)
	if err != nil {
		return err
	}
	e := repo.BySeq(v.Events, l.event.Seq)
	if e == nil || e.Commit != l.event.Commit {
		return nil // it went on since
	}
	l.subject = e.Subject
	if l.tool() {
		l.origin = originOf(v, e)
	}
	return nil
}

// written names the writer of the line, and the time.
func (l BlamedLine) written() string {
	switch {
	case l.event == nil && l.commit != nil:
		return fmt.Sprintf("%s  %s: %s (a commit)", l.When(), l.commit.author, l.commit.summary)
	case l.event == nil:
		return "since the newest snapshot: not recorded by whom"
	}
	text := l.When() + "  "
	switch o := l.origin; {
	case l.event.Writer == unproven:
		return fmt.Sprintf("the file existed before @%d and was not recorded: the new lines are unknown", l.event.Seq)
	case o != nil:
		text += o.call.Request.Name
		if o.call.Request.ID != "" {
			text += " (" + o.call.Request.ID + ")"
		}
		text += " by " + o.model
		if slices.Contains(repo.Unquoted(o.call.Result.Shared), l.path) {
			text += ", or another tool that ran meanwhile"
		}
		return text
	case l.event.Writer == atStart:
		return text + "not committed when the conversation began"
	}
	return text + l.event.Author + ": " + l.subject
}

func (l BlamedLine) reasons() [][3]string {
	var rows [][3]string
	add := func(word string, e *conversation.Event, text string) {
		ref := ""
		if e != nil {
			ref = l.at(e.Seq)
		}
		rows = append(rows, [3]string{word, ref, text})
	}
	o := l.origin
	if o.because != nil {
		add("because", o.because, o.because.Subject)
	}
	if o.request != nil {
		text, _ := o.request.Text()
		add("for", o.request, o.request.Author+": "+problem.OneLine(text))
	}
	add("allowed", o.allowed, o.permit)
	return rows
}

// Object is the line for programs; with its reasons if they are wanted.
func (l BlamedLine) Object(reasons bool) map[string]any {
	o := map[string]any{
		"line": l.Number, "text": l.Text, "conversation": nil, "seq": nil, "commit": nil, "time": nil,
		"author": nil, "tool": nil, "model": nil,
	}
	if l.session != "" {
		o["conversation"] = l.session
	}
	if !l.time().IsZero() {
		o["author"], o["time"] = l.Author(), l.time().UTC().Format(time.RFC3339Nano)
	}
	switch {
	case l.event != nil && l.event.Writer != unproven:
		o["conversation"], o["seq"], o["commit"] = l.record.Conversation, l.event.Seq, l.event.Commit
		if l.tool() {
			o["tool"], o["model"] = l.event.Tool, l.event.Model
		}
	case l.commit != nil:
		o["commit"] = l.commit.oid
	}
	if reasons {
		o["because"], o["for"], o["allowed"] = nil, nil, nil
		if l.origin != nil {
			l.origin.describe(o)
		}
	}
	return o
}

func (o *origin) describe(object map[string]any) {
	if o.because != nil {
		object["because"] = reason(o.because, o.because.Subject)
	}
	if o.request != nil {
		text, _ := o.request.Text()
		object["for"] = reason(o.request, text)
	}
	object["allowed"] = reason(o.allowed, o.permit)
}

func reason(e *conversation.Event, text string) map[string]any {
	if e == nil {
		return map[string]any{"seq": nil, "text": text}
	}
	return map[string]any{"seq": e.Seq, "text": text}
}

// Explain lists all facts about the line: the label, the event or commit, and its text. [BlamedLine.Trace]
// comes first.
func (l BlamedLine) Explain() [][3]string {
	rows := [][3]string{{"written", l.Ref(), l.written()}}
	if l.origin != nil {
		rows = append(rows, l.reasons()...)
	}
	return rows
}
