package conversation

import (
	"fmt"
	"slices"
)

// A TurnBuilder collects events for a turn. Build adds all of them to the stream, or none.
type TurnBuilder struct {
	stream  *Stream
	behind  int // number of events that the stream had
	turn    int
	added   []*Event
	built   bool
	begins  bool // the events begin a turn
	outside bool // only records are added, so a request is optional
}

// AddChatRequest adds a message of the user within the turn.
func (t *TurnBuilder) AddChatRequest(b ChatRequest, with ...Draft) *TurnBuilder {
	return t.add(&b, with)
}

// AddChatResponse adds a part of the model's output.
func (t *TurnBuilder) AddChatResponse(b ChatResponse, with ...Draft) *TurnBuilder {
	return t.add(&b, with)
}

// AddToolCallRequest adds a tool call that the model asks for.
func (t *TurnBuilder) AddToolCallRequest(b ToolCallRequest, with ...Draft) *TurnBuilder {
	return t.add(&b, with)
}

// AddToolCallResponse adds the result of a tool call.
func (t *TurnBuilder) AddToolCallResponse(b ToolCallResponse, with ...Draft) *TurnBuilder {
	return t.add(&b, with)
}

// AddInquiryRequest adds a question.
func (t *TurnBuilder) AddInquiryRequest(b InquiryRequest, with ...Draft) *TurnBuilder {
	return t.add(&b, with)
}

// AddInquiryResponse adds the end of a question.
func (t *TurnBuilder) AddInquiryResponse(b InquiryResponse, with ...Draft) *TurnBuilder {
	return t.add(&b, with)
}

// AddRecord adds one of jp's own kinds of event: a prompt, a note, a tool's
// start, or a body that [Stream.Append] takes.
func (t *TurnBuilder) AddRecord(b Body, with ...Draft) *TurnBuilder { return t.add(b, with) }

// Next is the seq that the next event added gets.
func (t *TurnBuilder) Next() int {
	next := t.stream.NextSeq() + len(t.added)
	if t.needsStart() {
		next++
	}
	return next
}

// needsStart reports whether a turn_start comes before the next event.
func (t *TurnBuilder) needsStart() bool { return t.begins && len(t.added) == 0 }

func (t *TurnBuilder) add(b Body, with []Draft) *TurnBuilder {
	if t.needsStart() {
		t.put(&Event{Body: &TurnStart{}})
	}
	e := &Event{Body: b}
	for _, draft := range with {
		draft(e)
	}
	t.put(e)
	return t
}

func (t *TurnBuilder) put(e *Event) {
	e.Seq, e.Turn, e.Version = t.stream.NextSeq()+len(t.added), t.turn, Version
	e.Time = t.stream.clock().UTC()
	t.added = append(t.added, e)
	if result, is := e.Body.(*ToolCallResponse); is && e.Model == "" {
		if call := t.stream.tail.ToolCall(result.For); call != nil {
			e.Model = call.Event.Model // another model may be asked since
		}
	}
	if e.Model == "" {
		e.Model = t.model()
	}
}

// model is the model in force for the newest event.
func (t *TurnBuilder) model() string {
	if model := newestModel(t.added); model != "" {
		return model
	}
	return t.stream.ModelOnRecord()
}

// Build checks the collected events, hands them to commit, and makes them part of the stream once commit has
// succeeded. On any error the stream stays as it was. Without events it does nothing.
func (t *TurnBuilder) Build(commit Commit) error {
	if t.built {
		return ErrBuilt
	}
	t.built = true
	if t.stream.open == t {
		t.stream.open = nil
	}
	if len(t.added) == 0 {
		return nil
	}
	if t.behind != len(t.stream.events) {
		return fmt.Errorf("build turn %d: %w", t.turn, ErrHeadMoved)
	}
	// The ledger must hold only durable events while a reader of the stream may have it, so count the turn
	// apart.
	ledger := t.ledger()
	if err := t.check(ledger); err != nil {
		return err
	}
	if err := commit(t.added); err != nil {
		return err
	}
	t.stream.events = append(t.stream.events, t.added...)
	t.stream.tail = ledger
	if t.outside {
		t.stream.recount()
	}
	return nil
}

// ledger is a new one of the turn's events so far.
func (t *TurnBuilder) ledger() *Ledger {
	if t.begins {
		return NewLedger()
	}
	return LedgerOf(t.stream.events[tailStart(t.stream.events):])
}

// check validates the collected events and enters them, one behind the other.
func (t *TurnBuilder) check(l *Ledger) error {
	for _, e := range t.added {
		if err := checkOne(l, e); err != nil {
			return fmt.Errorf("add %s %d: %w", e.Type(), e.Seq, err)
		}
		l.Enter(e)
	}
	if !t.outside && len(l.Requests) == 0 {
		return ErrNoRequest
	}
	return nil
}

func checkOne(l *Ledger, e *Event) error {
	if e.Type() == TypeTurnStart {
		if l.size != 0 {
			return ErrTurnStart
		}
		return nil
	}
	if (l.stopped || l.Discarded) && (e.Type().Protocol() || e.Type() == TypeToolStarted || e.Type() == TypeInstructions) {
		return ErrStopped
	}
	switch b := e.Body.(type) {
	case *ChatRequest:
		return l.checkSettled()
	case *TurnStopped:
		if len(l.Requests) == 0 {
			return ErrNoRequest
		}
		return l.checkSettled()
	case *ChatResponse:
		return l.checkResponse(b)
	case *ToolCallRequest:
		return l.checkModelCall(b.Call)
	case *ToolCallResponse:
		return l.checkToolResponse(b)
	case *ToolStarted:
		return l.checkOpen(b.For)
	case *Instructions:
		return l.checkInstructions(b)
	case *Compaction:
		return b.check(e.Seq)
	case *InquiryRequest:
		return l.checkInquiry(b)
	case *InquiryResponse:
		return l.checkInquiryResponse(b)
	}
	return nil
}

// checkSettled refuses to go on while a call or a question is open.
func (l *Ledger) checkSettled() error {
	if !l.allClosed() {
		return ErrOpenCalls
	}
	return nil
}

// checkModelCall refuses output without a request, and a part behind the
// last one of its call.
func (l *Ledger) checkModelCall(ordinal int) error {
	if len(l.Requests) == 0 {
		return ErrNoRequest
	}
	last := l.LastCall()
	if ordinal < 1 || last != nil && (ordinal < last.Ordinal || ordinal == last.Ordinal && last.Finish != "") {
		return ErrModelCall
	}
	return nil
}

func (l *Ledger) checkResponse(b *ChatResponse) error {
	switch b.Part {
	case PartMessage, PartReasoning, PartData:
	default:
		return fmt.Errorf("unknown part %q", b.Part)
	}
	if b.Partial && b.Finish != "" {
		return ErrPartialFinish
	}
	return l.checkModelCall(b.Call)
}

func (l *Ledger) checkToolResponse(b *ToolCallResponse) error {
	call := l.bySeq[b.For]
	switch {
	case call == nil || call.Request.ID != b.ID:
		return ErrOrphanResponse
	case !call.Open():
		return ErrDuplicateResponse
	}
	return call.checkNoInquiry()
}

func (t *ToolCall) checkNoInquiry() error {
	for _, q := range t.Inquiries {
		if q.Live() {
			return ErrOpenInquiry
		}
	}
	return nil
}

func (l *Ledger) checkOpen(seq int) error {
	call := l.bySeq[seq]
	switch {
	case call == nil:
		return ErrOrphanResponse
	case !call.Open():
		return ErrClosedCall
	}
	return nil
}

func (l *Ledger) checkInquiry(b *InquiryRequest) error {
	call := l.bySeq[b.For]
	switch {
	case call == nil:
		return ErrOrphanResponse
	case b.Kind == KindDeliverResult && call.Open():
		return ErrNotHeld
	case !call.Open() && !(b.Kind == KindDeliverResult && call.Undelivered()):
		return ErrClosedCall
	}
	return call.checkNoInquiry()
}

func (l *Ledger) checkInquiryResponse(b *InquiryResponse) error {
	q := l.inquiries[b.For]
	switch {
	case q == nil:
		return ErrOrphanResponse
	case q.Response != nil:
		return ErrDuplicateResponse
	}
	return nil
}

// Draft completes the i-th of the collected events, or with a negative i the
// i-th from the end.
func (t *TurnBuilder) Draft(i int, draft Draft) *TurnBuilder {
	if i < 0 {
		i += len(t.added)
	}
	draft(t.added[i])
	return t
}

// checkInstructions refuses absent texts, and files that neither a tool touched nor a request brought.
func (l *Ledger) checkInstructions(b *Instructions) error {
	if b.For == nil || slices.ContainsFunc(l.Requests, func(e *Event) bool { return e.Seq == *b.For }) {
		return b.check()
	}
	for _, call := range l.ToolCalls {
		if call.Response != nil && call.Response.Seq == *b.For {
			return b.check()
		}
	}
	return ErrOrphanResponse
}
