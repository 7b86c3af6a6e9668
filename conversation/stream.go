package conversation

import (
	"fmt"
	"slices"
	"time"
)

// A Stream is a conversation in memory. It grows by whole groups of events, each of which the journal has
// made durable first.
//
// A Stream must not be used concurrently.
type Stream struct {
	events []*Event
	tail   *Ledger // of the last turn
	clock  func() time.Time
	open   *TurnBuilder // handed out and still to be built
	lost   int          // handles whose events were dropped without a Build
}

// NewStream returns an empty stream. A nil clock is the system's.
func NewStream(clock func() time.Time) *Stream {
	s := streamOf(nil)
	s.SetClock(clock)
	return s
}

func streamOf(events []*Event) *Stream {
	s := &Stream{events: events[:len(events):len(events)], tail: NewLedger(), clock: time.Now}
	for _, e := range events[tailStart(events):] {
		s.tail.Enter(e)
	}
	return s
}

// SetClock replaces the clock that new events get their time from.
func (s *Stream) SetClock(clock func() time.Time) {
	if clock != nil {
		s.clock = clock
	}
}

// Events are all events, in order. They are read-only.
func (s *Stream) Events() []*Event { return s.events }

// Len is the number of events.
func (s *Stream) Len() int { return len(s.events) }

// NextSeq is the seq that the next event gets.
func (s *Stream) NextSeq() int {
	if len(s.events) == 0 {
		return 0
	}
	return s.events[len(s.events)-1].Seq + 1
}

// Last is the newest event, nil in an empty stream.
func (s *Stream) Last() *Event {
	if len(s.events) == 0 {
		return nil
	}
	return s.events[len(s.events)-1]
}

// TurnNumber is the number of the newest turn, 0 before the first.
func (s *Stream) TurnNumber() int {
	if last := s.Last(); last != nil {
		return last.Turn
	}
	return 0
}

// Tail is the ledger of the newest turn.
func (s *Stream) Tail() *Ledger { return s.tail }

// Model is the model in force, "provider/name", "" before the first turn that is
// the user's own: see [AfterAdoption].
func (s *Stream) Model() string { return ModelOf(s.events) }

// ModelOf is [Stream.Model] of all events of a conversation.
func ModelOf(events []*Event) string { return newestModel(AfterAdoption(events)) }

// ModelOnRecord is the model that the newest turn was asked with, chosen by the user or by a file.
func (s *Stream) ModelOnRecord() string { return newestModel(s.events) }

// newestModel is the model of a turn: that of its start, or a later setting behind it.
func newestModel(events []*Event) string {
	for _, e := range slices.Backward(events) {
		switch b := e.Body.(type) {
		case *TurnStart:
			return b.Model
		case *ConfigDelta:
			if model := b.model(); model != "" {
				return model
			}
		}
	}
	return ""
}

// A Commit makes events durable. It is called with whole, numbered events, and stores either all of them or
// none.
type Commit func(events []*Event) error

// StartTurn begins a turn: its start, jp's records (a prompt, notes, outside changes of the files), and the
// request. All of it becomes part of the stream when the returned handle is built.
func (s *Stream) StartTurn(start TurnStart, request ChatRequest, records ...*Event) *TurnBuilder {
	t := s.handle()
	t.turn, t.begins = s.TurnNumber()+1, true
	t.put(&Event{Body: &start})
	for _, r := range records {
		t.put(r)
	}
	t.put(&Event{Body: &request})
	return t
}

// CurrentTurn returns a handle to the newest turn. In a stream without turns it
// begins one.
func (s *Stream) CurrentTurn() *TurnBuilder {
	t := s.handle()
	if s.tail.size == 0 {
		t.turn, t.begins = s.TurnNumber()+1, true
	}
	return t
}

func (s *Stream) handle() *TurnBuilder {
	if s.open != nil && len(s.open.added) > 0 {
		s.lost++
	}
	t := &TurnBuilder{stream: s, behind: len(s.events), turn: s.TurnNumber()}
	s.open = t
	return t
}

// Append adds jp's own records, which may stand outside a turn.
func (s *Stream) Append(commit Commit, records ...*Event) error {
	for _, r := range records {
		if newRecord(r.Type()) == nil {
			return fmt.Errorf("append %s: %w", r.Type(), ErrNotRecord)
		}
	}
	t := s.handle()
	t.outside = true
	for _, r := range records {
		t.put(r)
	}
	return t.Build(commit)
}

// CheckBuilt reports a handle whose events were dropped without a Build.
func (s *Stream) CheckBuilt() error {
	lost := s.lost
	if s.open != nil && len(s.open.added) > 0 {
		lost++
	}
	if lost > 0 {
		return fmt.Errorf("%w: %d", ErrNotBuilt, lost)
	}
	return nil
}

// recount makes the ledger of the newest turn anew. Without a turn it is empty, even if there are records.
func (s *Stream) recount() {
	s.tail = LedgerOf(s.events[tailStart(s.events):])
}
