package repo

import (
	"context"

	"jp/conversation"
)

// A delegatesQuestion is the waiting question of a delegate, for those that wait for the delegate.
type delegatesQuestion struct {
	In      conversation.Info // the conversation of the question
	Inquiry conversation.WaitingInquiry
	Tools   string // "delegate → fs_create_file", with every level between
}

// MaxLevels bounds the search through levels of delegates.
const MaxLevels = 16

// AsksFor is the waiting question of a delegate of a conversation's open calls, or nil. calls are the calls
// that have conversations of their own.
func (r States) AsksFor(ctx context.Context, parent conversation.ID, calls []Delegation, levels int) *delegatesQuestion {
	for _, call := range calls {
		info, err := r.repo.Store.Info(ctx, call.Child)
		if err != nil || info.Summary.Parent != parent || levels == 0 {
			continue
		}
		if q := info.Summary.Inquiry; q != nil {
			return &delegatesQuestion{info, *q, call.Tool + " → " + q.Tool}
		}
		if q := r.AsksFor(ctx, info.ID, r.delegations(ctx, info), levels-1); q != nil {
			q.Tools = call.Tool + " → " + q.Tools
			return q
		}
	}
	return nil
}

// A Delegation is an open call that has a conversation of its own.
type Delegation struct {
	Tool  string
	Child conversation.ID
}

// delegations are those of a conversation whose newest event alone is loaded, in the order of their calls.
func (r States) delegations(ctx context.Context, i conversation.Info) (calls []Delegation) {
	open := i.Summary.Open
	children := map[int]conversation.ID{} // by the call's seq
	for e, err := range r.repo.Store.Backward(ctx, i.Head) {
		if err != nil || len(open) == 0 || e.Seq < open[0].Seq {
			break
		}
		if b, is := e.Body.(*conversation.ToolStarted); is && b.Child != "" && children[b.For] == "" {
			children[b.For] = b.Child
		}
	}
	for _, call := range open {
		if child := children[call.Seq]; child != "" {
			calls = append(calls, Delegation{Tool: call.Name, Child: child})
		}
	}
	return calls
}

// askedBelow makes the status of a conversation that of its delegate with a waiting question.
func (s *Status) askedBelow(q *delegatesQuestion, inquiry *Inquiry) {
	pending := string(conversation.StatusInput)
	s.State, s.Pending, s.Reason = "waiting_for_input", &pending, nil
	s.Tool, s.Question, s.Inquiry = &q.Tools, &q.Inquiry.Text, inquiry
}
