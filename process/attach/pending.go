package attach

import "jp/conversation"

// A Pending is a question that waits for whoever answers first.
type Pending struct {
	server  *Server
	inquiry Inquiry     // as it was posted
	told    Inquiry     // cut to fit a message
	given   chan Answer // one answer, at most
	by      *peer       // who gave it
}

// Post lets a question wait: everybody who is connected, and who comes, is told.
// One question at a time waits; the one before it must have been withdrawn.
func (s *Server) Post(q Inquiry) *Pending {
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

// Withdraw ends the wait. An answer that nobody has taken has no effect, and its
// giver is told.
func (p *Pending) Withdraw() {
	s := p.server
	s.mu.Lock()
	if s.pending == p {
		s.pending = nil
	}
	select {
	case <-p.given:
		p.by.send(&Refused{Seq: p.inquiry.Seq, Reason: "somebody else answered first"})
	default:
	}
	s.mu.Unlock()
	s.opts.Changed()
}

// answer takes a peer's answer, if there is a question that takes it.
func (s *Server) answer(from *peer, a *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(reason string) { from.send(&Refused{Seq: a.Seq, Reason: reason}) }
	q := s.pending
	if a.Conversation == "" {
		a.Conversation = s.opts.Conversation
	}
	switch {
	case q == nil || q.inquiry.Seq != a.Seq || q.inquiry.Conversation != a.Conversation:
		refuse("this question does not wait for an answer")
		return
	case q.by != nil:
		refuse("somebody else answered first")
		return
	}
	request := conversation.InquiryRequest{
		Kind: q.inquiry.Kind, Exclusive: q.inquiry.Exclusive, Question: conversation.Question{AnswerType: q.inquiry.AnswerType},
	}
	response := conversation.InquiryResponse{Outcome: a.Outcome, Answer: a.Value, Arguments: a.Arguments}
	if err := request.Accepts(&response); err != nil {
		refuse(err.Error())
		return
	}
	q.by = from
	q.given <- *a
}
