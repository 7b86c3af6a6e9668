package conversation

import (
	"bytes"
	"slices"
	"time"
)

// A ModelCall is one call of the model: the events that it produced.
type ModelCall struct {
	Ordinal  int // from 1 within the turn
	Events   []*Event
	Finish   Finish // "" if the call was broken off
	HasTools bool   // it asked for tools
}

// Ended reports whether the model said all that it had to say. A broken call
// that asked for a tool ended there; any other broken call is asked again.
func (c *ModelCall) Ended() bool { return c.Finish != "" || c.HasTools }

// Answer reports whether the call answers the request, for good.
func (c *ModelCall) Answer() bool {
	return c.Finish != "" && c.Finish != FinishToolCalls && c.Finish != FinishPause && !c.HasTools
}

// A ToolCall is a request of the model, with all that came of it.
type ToolCall struct {
	Event     *Event // the request
	Request   *ToolCallRequest
	Started   *Event // the newest tool_started, or nil
	Response  *Event // nil while the call is open
	Result    *ToolCallResponse
	Inquiries []*Inquiry
}

// Child is the conversation that the call works in, or "".
func (t *ToolCall) Child() ID {
	if t.Started == nil {
		return ""
	}
	return t.Started.Body.(*ToolStarted).Child
}

// Open reports whether the call has no response.
func (t *ToolCall) Open() bool { return t.Response == nil }

// Lost reports whether the newest run of an open call has no end on record, so that its outcome is unknown. A
// run that ended with a question of the tool's changed nothing.
func (t *ToolCall) Lost() bool {
	if !t.Open() || t.Started == nil {
		return false
	}
	q := t.Inquiry(KindToolQuestion)
	return q == nil || q.Event.Seq < t.Started.Seq
}

// Inquiry finds the newest inquiry of a kind, nil if there is none.
func (t *ToolCall) Inquiry(kind InquiryKind) *Inquiry {
	for i := len(t.Inquiries) - 1; i >= 0; i-- {
		if t.Inquiries[i].Request.Kind == kind {
			return t.Inquiries[i]
		}
	}
	return nil
}

// Undelivered reports whether the call has a result that waits for its
// delivery question, asked or not.
func (t *ToolCall) Undelivered() bool {
	if t.Result == nil || !t.Result.Held {
		return false
	}
	q := t.Inquiry(KindDeliverResult)
	return q == nil || q.Response == nil
}

// Answers are the answers to the tool's own questions, by question id.
func (t *ToolCall) Answers() map[string]raw {
	answers := map[string]raw{}
	for _, q := range t.Inquiries {
		if q.Request.Kind == KindToolQuestion && q.Response != nil && q.Response.Outcome == OutcomeAnswered {
			answers[q.Request.QuestionID] = q.Response.Answer
		}
	}
	return answers
}

// An Inquiry is a question with its answer.
type Inquiry struct {
	Event    *Event // the request
	Request  *InquiryRequest
	Response *InquiryResponse // nil before the answer
	Call     *ToolCall        // the call that it is about
}

// Live reports whether the inquiry still waits: it is unanswered, and its call
// has no response or a held one.
func (q *Inquiry) Live() bool {
	return q.Response == nil && (q.Call.Open() || q.Call.Result.Held && q.Request.Kind == KindDeliverResult)
}

// A Ledger pairs a turn's requests with their responses. Only here are they matched: completeness, phase and
// status derive from it. Events are entered in order.
type Ledger struct {
	Requests    []*Event // chat requests, also replaced ones
	Calls       []*ModelCall
	ToolCalls   []*ToolCall // in the order of their requests
	Interrupted *Event      // the newest turn_interrupted
	Resumed     *Event      // the newest resumed
	Discarded   bool        // a turn_discarded covers the turn
	Approved    Approval    // tool runs that the user allowed at a start or resume since the newest fork

	replaced  map[int]bool
	byCall    map[int]*ModelCall
	bySeq     map[int]*ToolCall
	inquiries map[int]*Inquiry

	lastRequest int  // position of the newest request in force, -1
	lastResult  int  // position of the newest tool response, -1
	lastNote    int  // position of the newest note, -1
	lastAnswer  int  // position of the newest answer, -1
	stopped     bool // the newest event of the dialogue is turn_stopped
	refused     bool // the newest call that ended was refused
	size        int
	first       int   // seq of the first event
	adopted     int   // seq of the newest adoption, -1
	noted       int   // seq of the newest note of an answer that was cut off, -1
	said        []int // seqs of the user's messages: the requests, and the permissions that let a repeating model go on
	moved       int   // seq of the newest change of the files by others, -1
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{
		replaced: map[int]bool{}, byCall: map[int]*ModelCall{}, bySeq: map[int]*ToolCall{}, inquiries: map[int]*Inquiry{},
		lastRequest: -1, lastResult: -1, lastNote: -1, lastAnswer: -1, first: -1, adopted: -1, noted: -1, moved: -1,
	}
}

// LedgerOf enters all events of one turn.
func LedgerOf(events []*Event) *Ledger {
	l := NewLedger()
	for _, e := range events {
		l.Enter(e)
	}
	return l
}

// Enter adds the next event of the turn. Responses without a request are ignored.
func (l *Ledger) Enter(e *Event) {
	if l.first < 0 {
		l.first = e.Seq
	}
	at := l.size
	l.size++
	if e.Type().Protocol() {
		l.stopped = e.Type() == TypeTurnStopped
	}
	switch b := e.Body.(type) {
	case *TurnStart:
		if l.Approved = b.Approved; e.Handed {
			l.Approved = nil // it was said on another machine
		}
	case *ChatRequest:
		l.enterRequest(e, b, at)
	case *ChatResponse:
		l.enterOutput(e, b.Call, b.Finish, false, at)
	case *ToolCallRequest:
		l.enterOutput(e, b.Call, b.Finish, true, at)
		call := &ToolCall{Event: e, Request: b}
		l.ToolCalls = append(l.ToolCalls, call)
		l.bySeq[e.Seq] = call
	case *ToolStarted:
		if call := l.bySeq[b.For]; call != nil {
			call.Started = e
		}
	case *ToolCallResponse:
		if call := l.bySeq[b.For]; call != nil && call.Open() {
			call.Response, call.Result = e, b
			l.lastResult = at
		}
	case *InquiryRequest:
		if call := l.bySeq[b.For]; call != nil {
			q := &Inquiry{Event: e, Request: b, Call: call}
			call.Inquiries = append(call.Inquiries, q)
			l.inquiries[e.Seq] = q
		}
	case *InquiryResponse:
		if q := l.inquiries[b.For]; q != nil && q.Response == nil {
			q.Response = b
		}
	case *Note:
		l.lastNote = at
		if b.Content == TextCutOff {
			l.noted = e.Seq
		}
		if b.Content == TextRepeating {
			l.said = append(l.said, e.Seq)
		}
	case *Workspace:
		l.moved = e.Seq
	case *TurnInterrupted:
		l.Interrupted = e
	case *Resumed:
		l.Resumed = e
		if !e.Handed {
			l.Approved = l.Approved.and(b.Approved)
		}
	case *ForkOrigin:
		l.Approved = nil // it was said of the source's turn
		if b.Adopted {
			l.adopted = e.Seq
		}
	case *TurnDiscarded:
		l.Discarded = l.Discarded || b.FromSeq <= l.first && l.first <= b.ToSeq
	}
}

func (l *Ledger) enterRequest(e *Event, b *ChatRequest, at int) {
	l.Requests = append(l.Requests, e)
	if b.Replaces != nil {
		l.replaced[*b.Replaces] = true
	}
	l.lastRequest, l.refused = at, false
	l.said = append(l.said, e.Seq)
}

func (l *Ledger) enterOutput(e *Event, ordinal int, finish Finish, tool bool, at int) {
	call := l.byCall[ordinal]
	if call == nil {
		call = &ModelCall{Ordinal: ordinal}
		l.byCall[ordinal] = call
		l.Calls = append(l.Calls, call)
	}
	call.Events = append(call.Events, e)
	call.HasTools = call.HasTools || tool
	if finish == "" {
		return
	}
	call.Finish = finish
	l.refused = finish.Refused()
	if call.Answer() {
		l.lastAnswer = at
	}
}

// Replaced reports whether a later request stands for the one at seq.
func (l *Ledger) Replaced(seq int) bool { return l.replaced[seq] }

// Request is the newest chat request in force, nil if there is none.
func (l *Ledger) Request() *Event {
	if len(l.Requests) == 0 {
		return nil
	}
	return l.Requests[len(l.Requests)-1]
}

// Question is the request that began the turn, leaving out replies within it: the first one in force, or nil.
func (l *Ledger) Question() *Event {
	for _, e := range l.Requests {
		if b := e.Body.(*ChatRequest); !b.Interrupt && !l.replaced[e.Seq] {
			return e
		}
	}
	return nil
}

// Foreign reports whether a tool call, and with it any permission of the time, is older than the adoption by
// this user, or of another machine: it never runs.
func (l *Ledger) Foreign(call *ToolCall) bool { return call.Event.Seq < l.adopted || call.Event.Handed }

// ModelCall finds the model call that an event is a part of, or nil.
func (l *Ledger) ModelCall(e *Event) *ModelCall {
	switch b := e.Body.(type) {
	case *ChatResponse:
		return l.byCall[b.Call]
	case *ToolCallRequest:
		return l.byCall[b.Call]
	}
	return nil
}

// ToolCall finds a tool call by the seq of its request.
func (l *Ledger) ToolCall(seq int) *ToolCall { return l.bySeq[seq] }

// InquiryAt finds an inquiry by the seq of its request.
func (l *Ledger) InquiryAt(seq int) *Inquiry { return l.inquiries[seq] }

// Open returns the tool calls without a response, in request order. A discarded turn has none, since its
// calls must never run.
func (l *Ledger) Open() []*ToolCall {
	if l.Discarded {
		return nil
	}
	var open []*ToolCall
	for _, t := range l.ToolCalls {
		if t.Open() {
			open = append(open, t)
		}
	}
	return open
}

// Lost returns the open calls of unknown outcome. since is when
// the first of them was started.
func (l *Ledger) Lost() (calls []*ToolCall, since time.Time) {
	for _, t := range l.Open() {
		if !t.Lost() {
			continue
		}
		calls = append(calls, t)
		if since.IsZero() || t.Started.Time.Before(since) {
			since = t.Started.Time
		}
	}
	return calls, since
}

// Live returns the inquiries that wait for an answer, in request order.
func (l *Ledger) Live() []*Inquiry {
	if l.Discarded {
		return nil
	}
	var live []*Inquiry
	for _, t := range l.ToolCalls {
		for _, q := range t.Inquiries {
			if q.Live() {
				live = append(live, q)
			}
		}
	}
	return live
}

// Undelivered is the first call whose held result waits for its delivery
// question, nil if there is none.
func (l *Ledger) Undelivered() *ToolCall {
	if l.Discarded {
		return nil
	}
	for _, t := range l.ToolCalls {
		if t.Undelivered() {
			return t
		}
	}
	return nil
}

// LastCall is the newest model call, nil if the model was not asked.
func (l *Ledger) LastCall() *ModelCall {
	if len(l.Calls) == 0 {
		return nil
	}
	return l.Calls[len(l.Calls)-1]
}

// CutOff is the newest model call that ended, if it broke off while it asked for
// tools, and no note or reply of the user stands behind it, else nil.
func (l *Ledger) CutOff() *ModelCall {
	for _, call := range slices.Backward(l.Calls) {
		if !call.Ended() {
			continue
		}
		last := call.Events[len(call.Events)-1].Seq
		if call.Finish != "" || l.noted > last || l.Request() != nil && l.Request().Seq > last {
			return nil
		}
		return call
	}
	return nil
}

// NextCall is the ordinal that the next model call gets.
func (l *Ledger) NextCall() int {
	next := 1
	for _, c := range l.Calls {
		next = max(next, c.Ordinal+1)
	}
	return next
}

// Repeats reports whether a tool call is one that its model call asked for before:
// it has the same id, name and arguments. A call without an id is always new.
func (l *Ledger) Repeats(call *ToolCall) bool {
	if call.Request.ID == "" || call.Request.Malformed {
		return false
	}
	for _, earlier := range l.ToolCalls {
		if earlier == call {
			return false
		}
		a, b := earlier.Request, call.Request
		if a.Call == b.Call && a.ID == b.ID && a.Name == b.Name && !a.Malformed && sameJSON(a.Arguments, b.Arguments) {
			return true
		}
	}
	return false
}

// sameJSON reports whether two texts are the same JSON value, however it is laid out.
func sameJSON(a, b []byte) bool {
	first, err := Canonical(a)
	if err != nil {
		return false
	}
	second, err := Canonical(b)
	return err == nil && bytes.Equal(first, second)
}

// allClosed reports whether all calls and questions are closed.
func (l *Ledger) allClosed() bool {
	return len(l.Open()) == 0 && l.Undelivered() == nil && len(l.Live()) == 0
}

// Complete reports whether the turn needs nothing more: it has a request and an answer, every call its
// response, an answer follows the last response, the newest request and the newest note, and no question
// waits. A turn that was stopped or refused with everything closed, and a discarded one, are complete as they
// stand.
func (l *Ledger) Complete() bool {
	if l.Discarded {
		return true
	}
	if !l.allClosed() {
		return false
	}
	if l.stopped || l.refused {
		return true
	}
	return l.lastRequest >= 0 && l.lastAnswer > max(l.lastRequest, l.lastResult, l.lastNote)
}

// Empty reports whether the turn has no request and no answer yet.
func (l *Ledger) Empty() bool {
	return len(l.Requests) == 0 && len(l.Calls) == 0 && len(l.ToolCalls) == 0
}
