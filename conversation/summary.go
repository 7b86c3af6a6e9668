package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Summary is the state of a conversation without reading all of it: a fold over its events, kept beside the
// newest one. It is a cache. The events are the truth.
type Summary struct {
	Title       string            `json:"title,omitempty"`
	TitleSource string            `json:"title_source,omitempty"`
	Created     time.Time         `json:"created"`
	LastEventAt time.Time         `json:"last_event_at"`
	Model       string            `json:"model,omitempty"`
	Turns       int               `json:"turns,omitempty"`
	Events      int               `json:"events"`
	Open        []OpenCall        `json:"open,omitempty"`
	Inquiry     *WaitingInquiry   `json:"inquiry,omitempty"`
	Queued      []WaitingInquiry  `json:"queued,omitempty"` // questions behind Inquiry
	Newest      newest            `json:"newest,omitempty"`
	TurnAt      int               `json:"turn_at,omitempty"`    // seq at which the newest turn starts
	ToolsCall   int               `json:"tools_call,omitempty"` // newest model call of the turn that asked for tools
	Status      Status            `json:"status,omitempty"`
	Usage       *Usage            `json:"usage,omitempty"`
	PinnedAt    *time.Time        `json:"pinned_at,omitempty"`
	ArchivedAt  *time.Time        `json:"archived_at,omitempty"`
	ExpiresAt   *time.Time        `json:"expires_at,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Parent      ID                `json:"parent,omitempty"`
	Fork        *ForkPoint        `json:"fork,omitempty"`
}

// newest is which of the things that decide on completeness came last in the
// newest turn.
type newest string

const (
	newestRequest newest = "request"
	newestResult  newest = "result"
	newestAnswer  newest = "answer"
	newestEnd     newest = "end" // stopped, refused or discarded
)

// An OpenCall is a tool call that has no response, or one that is held.
type OpenCall struct {
	Seq     int    `json:"seq"`
	ID      string `json:"tool_call_id,omitempty"`
	Name    string `json:"name"`
	Started bool   `json:"started,omitempty"`
	Held    bool   `json:"held,omitempty"`
}

// A WaitingInquiry is the first question that waits for an answer.
type WaitingInquiry struct {
	Seq  int         `json:"seq"`
	For  int         `json:"for"`
	Kind InquiryKind `json:"kind"`
	Tool string      `json:"tool"`
	Text string      `json:"text"`
}

// A ForkPoint is the source of a fork.
type ForkPoint struct {
	Conversation ID  `json:"conversation"`
	Seq          int `json:"seq"`
}

// TitleColumns is how much of a first request serves as a title.
const TitleColumns = 60

// Summarize folds all events of a conversation.
func Summarize(events []*Event) Summary {
	var s Summary
	for _, e := range events {
		s = s.Next(e)
	}
	return s
}

// Archived reports whether [Summary.ArchivedAt] of all events is set.
func Archived(events []*Event) bool {
	for _, e := range slices.Backward(events) {
		switch b := e.Body.(type) {
		case *ForkOrigin:
			return false
		case *Metadata:
			if b.ArchivedAt != nil {
				return !b.ArchivedAt.Time.IsZero()
			}
		}
	}
	return false
}

// Next is the summary after one more event. It needs only the summary
// before, so that a writer reads the newest event only.
func (s Summary) Next(e *Event) Summary {
	if s.Events == 0 {
		s.Created = e.Time
	}
	s.Events++
	s.LastEventAt = e.Time
	switch b := e.Body.(type) {
	case *TurnStart:
		s.Model = b.Model
		s.Turns++
		s.Open, s.Inquiry, s.Queued, s.Newest, s.ToolsCall = nil, nil, nil, "", 0
		s.TurnAt = e.Seq
	case *ChatRequest:
		if title := firstLine(b.Content, TitleColumns); s.Title == "" && s.TitleSource == "" && title != "" {
			s.Title, s.TitleSource = title, "request"
		}
		s.Newest = newestRequest
	case *Note:
		if s.Newest == newestAnswer {
			s.Newest = newestRequest // the model is asked again
		}
	case *ChatResponse:
		s.spend(b.Usage)
		call := ModelCall{Finish: b.Finish, HasTools: b.Call > 0 && s.ToolsCall == b.Call}
		if call.Answer() {
			s.Newest = newestAnswer
		}
		s.refuse(b.Finish)
	case *ConfigDelta:
		s.Model = cmp.Or(b.model(), s.Model)
	case *Metadata:
		s.describe(b)
	case *ForkOrigin:
		s.Fork = &ForkPoint{Conversation: b.Conversation, Seq: b.Seq}
		s.ArchivedAt, s.PinnedAt, s.ExpiresAt = nil, nil, nil
		if b.Adopted {
			s.Model = "" // see [AfterAdoption]
		}
	case *TurnDiscarded:
		if b.FromSeq <= s.TurnAt && s.TurnAt <= b.ToSeq {
			s.Open, s.Inquiry, s.Queued, s.Newest = nil, nil, nil, newestEnd
		}
	case *TurnStopped:
		s.Newest = newestEnd
	default:
		s.nextTool(e)
	}
	s.Status = s.status()
	return s
}

// nextTool follows tool calls and the questions about them.
func (s *Summary) nextTool(e *Event) {
	switch b := e.Body.(type) {
	case *ToolCallRequest:
		s.spend(b.Usage)
		s.ToolsCall = b.Call
		s.Open = append(slices.Clone(s.Open), OpenCall{Seq: e.Seq, ID: clip(b.ID), Name: clip(b.Name)})
		s.refuse(b.Finish)
	case *ToolStarted:
		s.Open = editCall(s.Open, b.For, func(c *OpenCall) { c.Started = true })
	case *ToolCallResponse:
		s.spend(b.Usage)
		s.respond(b)
	case *InquiryRequest:
		s.ask(e.Seq, b)
	case *InquiryResponse:
		s.spend(b.Usage)
		s.answer(b.For)
	case *Compaction:
		s.spend(b.Usage)
	}
}

// refuse notes that a refusal ends the turn.
func (s *Summary) refuse(f Finish) {
	if f.Refused() {
		s.Newest = newestEnd
	}
}

func (s *Summary) respond(b *ToolCallResponse) {
	open := s.call(b.For)
	if open == nil || open.Held {
		return
	}
	if s.Newest != newestEnd {
		s.Newest = newestResult
	}
	if b.Held {
		s.Open = editCall(s.Open, b.For, func(c *OpenCall) { c.Held = true })
		return
	}
	s.Open = dropCall(s.Open, b.For)
}

func (s *Summary) call(seq int) *OpenCall {
	for i := range s.Open {
		if s.Open[i].Seq == seq {
			return &s.Open[i]
		}
	}
	return nil
}

func (s *Summary) ask(seq int, b *InquiryRequest) {
	open := s.call(b.For)
	if open == nil {
		return
	}
	q := WaitingInquiry{Seq: seq, For: b.For, Kind: b.Kind, Tool: open.Name, Text: firstLine(b.Question.Text, 200)}
	if s.Inquiry == nil {
		s.Inquiry = &q
		return
	}
	s.Queued = append(slices.Clone(s.Queued), q)
}

func (s *Summary) answer(seq int) {
	waiting := slices.Clone(s.Queued)
	if s.Inquiry != nil {
		waiting = append([]WaitingInquiry{*s.Inquiry}, waiting...)
	}
	at := slices.IndexFunc(waiting, func(q WaitingInquiry) bool { return q.Seq == seq })
	if at < 0 {
		return
	}
	q := waiting[at]
	waiting = slices.Delete(waiting, at, at+1)
	s.Inquiry, s.Queued = nil, nil
	if len(waiting) > 0 {
		s.Inquiry, s.Queued = &waiting[0], waiting[1:]
	}
	if open := s.call(q.For); q.Kind == KindDeliverResult && open != nil && open.Held {
		s.Open = dropCall(s.Open, q.For)
	}
}

func (s *Summary) status() Status {
	held := slices.ContainsFunc(s.Open, func(c OpenCall) bool { return c.Held })
	switch {
	case s.Inquiry != nil || held:
		return StatusInput
	case len(s.Open) > 0:
		return StatusTools
	case s.Newest == newestResult:
		return StatusFollowUp
	case s.Newest == newestRequest:
		return StatusResponse
	}
	return StatusIdle
}

func editCall(open []OpenCall, seq int, edit func(*OpenCall)) []OpenCall {
	open = slices.Clone(open)
	for i := range open {
		if open[i].Seq == seq {
			edit(&open[i])
		}
	}
	return open
}

func dropCall(open []OpenCall, seq int) []OpenCall {
	return slices.DeleteFunc(slices.Clone(open), func(c OpenCall) bool { return c.Seq == seq })
}

func (s *Summary) spend(u *Usage) {
	if u == nil {
		return
	}
	sum := Usage{}
	if s.Usage != nil {
		sum = *s.Usage
	}
	sum.Input += u.Input
	sum.Output += u.Output
	sum.CostUSD = AddDecimals(sum.CostUSD, u.CostUSD)
	s.Usage = &sum
}

func (s *Summary) describe(b *Metadata) {
	s.spend(b.Usage)
	if b.Title != nil {
		s.Title, s.TitleSource = *b.Title, b.TitleSource
	}
	set := func(to **time.Time, m *OptionalTime) {
		if m == nil {
			return
		}
		*to = nil
		if !m.Time.IsZero() {
			at := m.Time
			*to = &at
		}
	}
	set(&s.PinnedAt, b.PinnedAt)
	set(&s.ArchivedAt, b.ArchivedAt)
	set(&s.ExpiresAt, b.ExpiresAt)
	if b.Labels != nil {
		s.Labels = b.Labels
	}
	if b.Parent != "" {
		s.Parent = b.Parent
	}
}

// clip bounds a foreign name.
func clip(s string) string {
	if len(s) <= 128 {
		return s
	}
	return strings.ToValidUTF8(s[:128], "")
}

// Exceeds reports that [EncodeSummary] would surely write more than n bytes, judged by the names and ids of
// its open calls, without writing it. If it is false, the summary may still be longer.
func (s *Summary) Exceeds(n int) bool {
	const least = len(`{"name":"","seq":1},`)
	for i := range s.Open {
		if n -= least + len(s.Open[i].Name) + len(s.Open[i].ID); n < 0 {
			return true
		}
	}
	return false
}

// EncodeSummary returns the summary as one line of canonical JSON.
func EncodeSummary(s Summary) ([]byte, error) {
	if len(s.Labels) == 0 {
		s.Labels = nil
	}
	w := &writer{out: make([]Field, 0, 12)}
	s.fields(w)
	if w.err != nil {
		return nil, w.err
	}
	slices.SortFunc(w.out, byKey)
	return appendObject(make([]byte, 0, 384), w.out), nil
}

// A summaryCodec visits the fields of a summary.
type summaryCodec interface {
	codec
	time(name string, p *time.Time)       // in its own zone, always there
	maybeTime(name string, p **time.Time) // absent if nil
}

func (s *Summary) fields(w summaryCodec) {
	w.str("title", &s.Title)
	w.str("title_source", &s.TitleSource)
	w.time("created", &s.Created)
	w.time("last_event_at", &s.LastEventAt)
	w.str("model", &s.Model)
	w.num("turns", &s.Turns)
	w.seq("events", &s.Events)
	w.value("open", &s.Open)
	w.value("inquiry", &s.Inquiry)
	w.value("queued", &s.Queued)
	w.str("newest", (*string)(&s.Newest))
	w.num("turn_at", &s.TurnAt)
	w.num("tools_call", &s.ToolsCall)
	w.str("status", (*string)(&s.Status))
	w.value("usage", &s.Usage)
	w.maybeTime("pinned_at", &s.PinnedAt)
	w.maybeTime("archived_at", &s.ArchivedAt)
	w.maybeTime("expires_at", &s.ExpiresAt)
	w.value("labels", &s.Labels)
	w.str("parent", (*string)(&s.Parent))
	w.value("fork", &s.Fork)
}

// DecodeSummary reads the output of [EncodeSummary].
func DecodeSummary(line []byte) (Summary, error) {
	r, err := newReader(line)
	if err != nil {
		return Summary{}, err
	}
	defer r.free()
	var s Summary
	s.fields(r)
	return s, r.err
}
