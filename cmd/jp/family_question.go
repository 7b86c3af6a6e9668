package main

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/internal/safetext"
)

// A delegatesQuestion is a question that a delegate waits with, for those that wait for
// the delegate.
type delegatesQuestion struct {
	in      conversation.Info // the conversation of the question
	inquiry conversation.WaitingInquiry
	tools   string // "delegate → fs_create_file", with every level between
}

// maxLevels is how many levels of delegates are looked through.
const maxLevels = 16

// asksFor is the question that a delegate of a conversation's open calls waits with, nil
// where none does. calls are the calls that work in conversations of their own, by those.
func (r states) asksFor(ctx context.Context, parent conversation.ID, calls []delegation, levels int) *delegatesQuestion {
	for _, call := range calls {
		info, err := r.store.Info(ctx, call.child)
		if err != nil || info.Summary.Parent != parent || levels == 0 {
			continue
		}
		if q := info.Summary.Inquiry; q != nil {
			return &delegatesQuestion{info, *q, call.tool + " → " + q.Tool}
		}
		if q := r.asksFor(ctx, info.ID, r.delegations(ctx, info), levels-1); q != nil {
			q.tools = call.tool + " → " + q.tools
			return q
		}
	}
	return nil
}

// A delegation is an open call that works in a conversation of its own.
type delegation struct {
	tool  string
	child conversation.ID
}

// delegations are those of a conversation of which no more is loaded than its newest
// event, in the order of their calls.
func (r states) delegations(ctx context.Context, i conversation.Info) (calls []delegation) {
	open := i.Summary.Open
	children := map[int]conversation.ID{} // by the call's seq
	for e, err := range r.store.Back(ctx, i.Head) {
		if err != nil || len(open) == 0 || e.Seq < open[0].Seq {
			break
		}
		if b, is := e.Body.(*conversation.ToolStarted); is && b.Child != "" && children[b.For] == "" {
			children[b.For] = b.Child
		}
	}
	for _, call := range open {
		if child := children[call.Seq]; child != "" {
			calls = append(calls, delegation{tool: call.Name, child: child})
		}
	}
	return calls
}

// delegationsIn are those of an incomplete turn.
func delegationsIn(tail *conversation.IncompleteTurn) (calls []delegation) {
	for _, call := range tail.Ledger().Open() {
		if child := call.Child(); child != "" {
			calls = append(calls, delegation{tool: call.Request.Name, child: child})
		}
	}
	return calls
}

// statusOf is what an incomplete turn waits for: also the question of a delegate.
func (r *repo) statusOf(ctx context.Context, id conversation.ID, tail *conversation.IncompleteTurn) conversation.Status {
	status := tail.Status()
	if status == conversation.StatusTools && r.states().asksFor(ctx, id, delegationsIn(tail), maxLevels) != nil {
		return conversation.StatusInput
	}
	return status
}

// incomplete says what an incomplete turn waits for, also where a delegate asks.
func (r *repo) incomplete(ctx context.Context, id conversation.ID, tail *conversation.IncompleteTurn) *failure {
	f := incompleteFailure(id, tail)
	if q := r.states().asksFor(ctx, id, delegationsIn(tail), maxLevels); q != nil {
		f.details = append(f.details, fmt.Sprintf("Waiting for input: %s — %q", safetext.Clean(q.tools), oneLine(q.inquiry.Text)))
	}
	return f
}

// askedBelow makes the status of a conversation that of its delegate which waits for an
// answer.
func (s *statusJSON) askedBelow(q *delegatesQuestion, inquiry *inquiryJSON) {
	pending := string(conversation.StatusInput)
	s.State, s.Pending, s.Reason = "waiting_for_input", &pending, nil
	s.Tool, s.Question, s.Inquiry = &q.tools, &q.inquiry.Text, inquiry
}
