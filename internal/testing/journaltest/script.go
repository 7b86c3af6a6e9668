package journaltest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// Model is the model of every scripted conversation.
const Model = "script/fixed"

// Clock returns a clock that starts at a fixed time and goes on by a second
// with every look.
func Clock() func() time.Time {
	at := time.Date(2025, 7, 19, 14, 0, 0, 123456789, time.UTC)
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

// Store accepts every group of events; it replaces a journal in tests without one.
func Store([]*conversation.Event) error { return nil }

// A Script builds a conversation, one group of events at a time, through
// [conversation.Stream]. A step that the rules forbid fails the test.
type Script struct {
	Stream *conversation.Stream
	Commit conversation.Commit

	t    testing.TB
	call int
	seqs map[string]int // of the newest request or question by its id
}

// NewScript begins an empty conversation, and asserts at the end of the test that all events were built.
func NewScript(t testing.TB) *Script {
	s := &Script{Stream: conversation.NewStream(Clock()), Commit: Store, t: t, seqs: map[string]int{}}
	RequireBuilt(t, s.Stream)
	return s
}

// RequireBuilt asserts, when the test ends, that every handle to a turn of the
// stream was built.
func RequireBuilt(t testing.TB, s *conversation.Stream) {
	t.Cleanup(func() { require.NoError(t, s.CheckBuilt()) })
}

// Events are the events so far.
func (s *Script) Events() []*conversation.Event { return s.Stream.Events() }

func (s *Script) build(m *conversation.TurnBuilder) *Script {
	s.t.Helper()
	require.NoError(s.t, m.Build(s.Commit))
	return s
}

// Turn starts a turn with a request.
func (s *Script) Turn(request string) *Script {
	s.t.Helper()
	s.call = 1
	return s.build(s.Stream.StartTurn(
		conversation.TurnStart{Model: Model, JP: "test"}, conversation.ChatRequest{Content: request}))
}

// Thinks adds reasoning, with the state that a provider wants back.
func (s *Script) Thinks(text string) *Script {
	s.t.Helper()
	b := conversation.ChatResponse{Call: s.call, Part: conversation.PartReasoning, Text: text}
	state := json.RawMessage(`{"api":"script","item":{"signature":"c2lnbmVk"}}`)
	return s.build(s.Stream.CurrentTurn().AddChatResponse(b, conversation.WithProvider(state)))
}

// Mentions adds a message within the model's call.
func (s *Script) Mentions(text string) *Script {
	s.t.Helper()
	b := conversation.ChatResponse{Call: s.call, Part: conversation.PartMessage, Text: text}
	return s.build(s.Stream.CurrentTurn().AddChatResponse(b))
}

// Says adds a message that ends the model's call with an answer.
func (s *Script) Says(text string) *Script {
	s.t.Helper()
	b := conversation.ChatResponse{Call: s.call, Part: conversation.PartMessage, Text: text, CallEnd: end(conversation.FinishStop)}
	s.call++
	return s.build(s.Stream.CurrentTurn().AddChatResponse(b))
}

// Calls adds a tool call. The last one of a model call ends it.
func (s *Script) Calls(id, name, arguments string, last bool) *Script {
	s.t.Helper()
	b := conversation.ToolCallRequest{Call: s.call, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	if last {
		b.CallEnd = end(conversation.FinishToolCalls)
		s.call++
	}
	m := s.Stream.CurrentTurn()
	s.seqs[id] = m.Next()
	return s.build(m.AddToolCallRequest(b))
}

// Starts says that a tool which may change something is about to run.
func (s *Script) Starts(id string) *Script {
	s.t.Helper()
	return s.Records(&conversation.ToolStarted{For: s.seqs[id], Attempt: 1})
}

// Returns adds the result of a tool call.
func (s *Script) Returns(id, content string) *Script { return s.result(id, content, false) }

// Holds adds a result that the model must not see yet.
func (s *Script) Holds(id, content string) *Script { return s.result(id, content, true) }

func (s *Script) result(id, content string, held bool) *Script {
	s.t.Helper()
	call := s.Stream.Tail().ToolCall(s.seqs[id])
	require.NotNil(s.t, call, "no tool call %s", id)
	return s.build(s.Stream.CurrentTurn().AddToolCallResponse(conversation.ToolCallResponse{
		For: s.seqs[id], ID: id, Name: call.Request.Name, Content: content, Held: held, DurationMS: 12,
	}))
}

// Asks adds a question about a tool call.
func (s *Script) Asks(id string, kind conversation.InquiryKind, text string) *Script {
	s.t.Helper()
	m := s.Stream.CurrentTurn()
	b := conversation.InquiryRequest{
		For: s.seqs[id], Kind: kind, QuestionID: string(kind), Attempt: 1,
		Question: conversation.Question{Text: text, AnswerType: conversation.AnswerType{Type: "text"}},
	}
	s.seqs["?"+id] = m.Next()
	return s.build(m.AddInquiryRequest(b))
}

// Answers ends the newest question about a tool call with a word of the user's.
func (s *Script) Answers(id, word string) *Script {
	s.t.Helper()
	answer, err := json.Marshal(word)
	require.NoError(s.t, err)
	return s.build(s.Stream.CurrentTurn().AddInquiryResponse(conversation.InquiryResponse{
		For: s.seqs["?"+id], Outcome: conversation.OutcomeAnswered, Answer: answer, By: conversation.ByUser,
	}))
}

// Records adds jp's own events to the turn.
func (s *Script) Records(bodies ...conversation.Body) *Script {
	s.t.Helper()
	m := s.Stream.CurrentTurn()
	for _, b := range bodies {
		m.AddRecord(b)
	}
	return s.build(m)
}

func end(why conversation.Finish) conversation.CallEnd {
	return conversation.CallEnd{
		Finish: why, Usage: &conversation.Usage{Input: 120, Output: 34, CostUSD: "0.0021", DurationMS: 900}, Prefix: "5f1d",
	}
}
