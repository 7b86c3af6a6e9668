package attach

import (
	"jp/conversation"
)

// A Pending is a question that waits for the first answer.
type Pending struct {
	server  *Server
	inquiry Inquiry     // as it was posted
	told    Inquiry     // cut to fit a message
	given   chan Answer // one answer, at most
	by      *peer       // who gave it
}

// Ask lets a question wait: everybody who is connected, and who comes, is told.
// One question at a time waits; the one before it must have been withdrawn.
func (s *Server) Ask(q Inquiry) *Pending {
	p := &Pending{server: s, inquiry: q, told: bounded(q), given: make(chan Answer, 1)}
	s.mu.Lock()
	s.pending = p
	s.broadcast(&p.told)
	s.mu.Unlock()
	s.opts.Changed()
	return p
}

// Answer gives the answer of a peer, if one answers.
func (p *Pending) Answer() <-chan Answer { return p.given }

// Withdraw ends the wait. An answer that was not taken has no effect, and its sender is told.
func (p *Pending) Withdraw() {
	s := p.server
	s.mu.Lock()
	if s.pending == p {
		s.pending = nil
	}
	select {
	case <-p.given:
		p.by.refuse(p.inquiry.Seq, "the question was settled before this answer was taken")
	default:
	}
	s.mu.Unlock()
	s.opts.Changed()
}

// answer takes a peer's answer, if there is a question that takes it.
func (s *Server) answer(from *peer, a *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Conversation == "" {
		a.Conversation = s.opts.Conversation
	}
	q := s.pending
	if err := q.accepts(a); err != nil {
		from.refuse(a.Seq, err.Error())
		return
	}
	q.by = from
	q.given <- *a
}

// accepts reports why an answer does not fit the waiting question, if there is one.
func (p *Pending) accepts(a *Answer) error {
	switch {
	case p == nil || p.inquiry.Seq != a.Seq || p.inquiry.Conversation != a.Conversation:
		return errNotWaiting
	case p.by != nil:
		return errAnswered
	}
	request := conversation.InquiryRequest{
		Kind: p.inquiry.Kind, Exclusive: p.inquiry.Exclusive, Question: conversation.Question{AnswerType: p.inquiry.AnswerType},
	}
	return request.Accepts(&conversation.InquiryResponse{Outcome: a.Outcome, Answer: a.Value, Arguments: a.Arguments})
}

// InquiryOf is an inquiry of a conversation as peers are told of it.
func InquiryOf(id conversation.ID, q *conversation.Inquiry) Inquiry {
	return Inquiry{
		Conversation: id, Seq: q.Event.Seq, Kind: q.Request.Kind, Tool: q.Call.Request.Name, Text: q.Request.Question.Text,
		AnswerType: q.Request.Question.AnswerType, Default: q.Request.Question.Default, Exclusive: q.Request.Exclusive,
	}
}
