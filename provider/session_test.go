package provider

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// A session plays a whole conversation as jp would write it, remembers every request that it made, and
// compares each later one with the requests before the answers that it holds.
type session struct {
	t       *rapid.T
	stream  *conversation.Stream
	sent    map[string][]Message // by a word of the answer
	options Options
	maker   maker
	asked   func(answer string, r *Request) // receives each answer; may be nil
	words   int
}

func newSession(t *rapid.T) *session {
	return newSessionBy(t, maker{Target{API: "test", Model: "model-1"}, func(e *conversation.Event) json.RawMessage {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part == conversation.PartReasoning {
			return json.RawMessage(`{"signed":true}`)
		}
		return nil
	}})
}

func newSessionBy(t *rapid.T, m maker) *session {
	clock := func() time.Time { return time.Unix(0, 0).UTC() }
	return &session{
		t: t, stream: conversation.NewStream(clock), sent: map[string][]Message{},
		options: Options{Model: m.API + "/" + m.Model, API: m.API, System: "Be brief.", Tools: []Tool{{Name: "tool", Description: "A tool.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}},
		maker:   m,
	}
}

func (s *session) word(kind string) string {
	s.words++
	return fmt.Sprintf("%s %d", kind, s.words)
}

func (s *session) build(mut *conversation.TurnBuilder) {
	require.NoError(s.t, mut.Build(func([]*conversation.Event) error { return nil }))
}

func (s *session) chance(name string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(s.t, name) < percent
}

// step takes jp's next step.
func (s *session) step() {
	_, tail := conversation.SplitTail(s.stream.Events())
	switch {
	case tail == nil:
		s.startTurn()
	case s.chance("discard", 5):
		covers := &conversation.TurnDiscarded{FromSeq: tail.First(), ToSeq: tail.Last(), By: conversation.ByUser}
		require.NoError(s.t, s.stream.Append(func([]*conversation.Event) error { return nil }, &conversation.Event{Body: covers}))
	case tail.Phase() == conversation.PhaseStreaming:
		s.streaming()
	default:
		s.executing(tail.Ledger())
	}
}

func (s *session) startTurn() {
	var records []*conversation.Event
	if s.chance("note", 20) {
		records = append(records, &conversation.Event{Body: &conversation.Note{Content: s.word("note")}})
	}
	request := conversation.ChatRequest{Content: s.word("request")}
	s.build(s.stream.StartTurn(conversation.TurnStart{Model: "test/model-1"}, request, records...))
}

// streaming stops, replies, resumes, fails, or asks the model.
func (s *session) streaming() {
	mut := s.stream.CurrentTurn()
	switch action := rapid.IntRange(0, 11).Draw(s.t, "streaming"); action {
	case 0:
		s.build(mut.AddRecord(&conversation.TurnStopped{By: conversation.ByUser}))
	case 1:
		s.build(mut.AddChatRequest(conversation.ChatRequest{Content: s.word("reply"), Interrupt: true}))
	case 2, 3:
		s.build(mut.AddRecord(&conversation.Resumed{Message: s.word("resumed")}))
	case 4:
		s.build(mut.AddRecord(&conversation.TurnInterrupted{By: conversation.ByError, Phase: conversation.PhaseStreaming}))
	default:
		s.ask(mut)
	}
}

// ask makes the request and lets the model answer, wholly or in part.
func (s *session) ask(mut *conversation.TurnBuilder) {
	request, err := Build(s.stream.Events(), s.options)
	require.NoError(s.t, err)
	require.NoError(s.t, validate(s.stream.Events(), request.Messages))
	ordinal := s.stream.Tail().NextCall()
	end := conversation.CallEnd{}
	tools := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(s.t, "tools")
	if whole := s.chance("whole", 70); whole {
		end.Finish = s.finish(tools)
	}
	if s.chance("reasoning", 40) {
		mut.AddChatResponse(conversation.ChatResponse{Call: ordinal, Part: conversation.PartReasoning, Text: s.word("thought")}, s.made(mut.Next()))
	}
	text := s.word("answer")
	answer := conversation.ChatResponse{Call: ordinal, Part: conversation.PartMessage, Text: text, Partial: end.Finish == ""}
	if tools == 0 {
		answer.CallEnd = end
	}
	mut.AddChatResponse(answer, s.made(mut.Next()))
	s.sent[text] = request.Messages
	if s.asked != nil {
		s.asked(text, request)
	}
	for i := range tools {
		id := rapid.SampledFrom([]string{"call_1", "call_2", "", "a b", "functions.tool:0", "jp7"}).Draw(s.t, "id")
		b := conversation.ToolCallRequest{Call: ordinal, ID: id, Name: "tool", Arguments: json.RawMessage(`{}`)}
		if i == tools-1 {
			b.CallEnd = end
		}
		mut.AddToolCallRequest(b, s.made(mut.Next()))
	}
	s.build(mut)
}

// made gives the event of a seq the item of its maker.
func (s *session) made(seq int) conversation.Draft {
	return func(e *conversation.Event) {
		e.Seq = seq
		part := Part{Item: s.maker.item(e)}
		if b, ok := e.Body.(*conversation.ToolCallRequest); ok {
			part.Kind, part.ToolID = ChunkToolCall, b.ID
		}
		e.Provider = s.maker.StateOf(part, "")
	}
}

func (s *session) finish(tools int) conversation.Finish {
	if tools > 0 {
		return conversation.FinishToolCalls
	}
	return rapid.SampledFrom([]conversation.Finish{
		conversation.FinishStop, conversation.FinishStop, conversation.FinishLength, conversation.FinishPause,
		conversation.FinishToolCalls, conversation.FinishRefusal, conversation.FinishFiltered,
	}).Draw(s.t, "finish")
}

// executing answers the first open call, or the delivery question.
func (s *session) executing(ledger *conversation.Ledger) {
	mut := s.stream.CurrentTurn()
	if s.chance("resume", 15) {
		s.build(mut.AddRecord(&conversation.Resumed{Message: s.word("resumed")}))
		return
	}
	if held := ledger.Undelivered(); held != nil {
		question := mut.Next()
		mut.AddInquiryRequest(conversation.InquiryRequest{For: held.Event.Seq, Kind: conversation.KindDeliverResult})
		answer := rapid.SampledFrom([]string{`"deliver"`, `"withhold"`, `"edit"`}).Draw(s.t, "delivery")
		mut.AddInquiryResponse(conversation.InquiryResponse{For: question, Outcome: conversation.OutcomeAnswered, Answer: json.RawMessage(answer), Reason: s.word("reason")})
		s.build(mut)
		return
	}
	open := ledger.Open()
	call := open[rapid.IntRange(0, len(open)-1).Draw(s.t, "open")]
	s.build(mut.AddToolCallResponse(conversation.ToolCallResponse{
		For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name, Content: s.word("result"), Held: s.chance("held", 20),
	}))
}

// check compares the messages with the request before each of their answers.
func (s *session) check() {
	messages := Project(s.stream.Events(), s.options.Target())
	for i, m := range messages {
		for _, b := range m.Blocks {
			if before, known := s.sent[b.Text]; known && m.Role == conversation.RoleAssistant {
				require.Equal(s.t, before, messages[:i:i], "before %q", b.Text)
			}
		}
	}
}

func TestSessionsOnlyGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSession(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s.step()
			s.check()
		}
		require.NoError(t, s.stream.CheckBuilt())
	})
}

func TestARequestIsMadeTwiceTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSession(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			s.step()
		}
		first, err := Build(s.stream.Events(), s.options)
		if err != nil {
			require.ErrorIs(t, err, ErrNothingToAsk)
			return
		}
		again, err := Build(s.stream.Events(), s.options)
		require.NoError(t, err)
		require.Equal(t, first, again)

		failed := s.stream.CurrentTurn().AddRecord(&conversation.TurnInterrupted{By: conversation.BySignal, Phase: conversation.PhaseStreaming})
		s.build(failed)
		after, err := Build(s.stream.Events(), s.options)
		require.NoError(t, err)
		require.Equal(t, first.Prefix(), after.Prefix())
	})
}

// A conversation is cut by the end of its process, by a fork, and by a slice. A cut turn is resumed or
// discarded.
func TestEveryCutOfASessionCanBeSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSession(t)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			s.step()
		}
		all := s.stream.Events()
		to := s.options.Target()
		other := Target{API: "other", Model: "model-2"}
		for n := range len(all) {
			cut := all[: n+1 : n+1]
			require.NoError(t, validate(cut, Project(cut, to)))
			require.NoError(t, validate(cut, Project(cut, other)))
			sliced := conversation.Select(cut, conversation.Range{Last: 1, From: &n})
			require.NoError(t, validate(sliced, Project(sliced, to)))
			discarded := discardedAt(cut)
			messages := Project(discarded, to)
			require.NoError(t, validate(discarded, messages))
			last := messages[len(messages)-1].Blocks
			require.Equal(t, "a new request", last[len(last)-1].Text)
		}
	})
}

// discardedAt appends that the last turn is discarded, and a new request.
func discardedAt(cut []*conversation.Event) []*conversation.Event {
	last := cut[len(cut)-1]
	first := last.Seq
	for _, e := range cut {
		if e.Turn == last.Turn {
			first = min(first, e.Seq)
		}
	}
	bodies := []conversation.Body{
		&conversation.TurnDiscarded{FromSeq: first, ToSeq: last.Seq, By: conversation.ByUser},
		&conversation.TurnStart{}, &conversation.ChatRequest{Content: "a new request"},
	}
	for i, b := range bodies {
		cut = append(cut, &conversation.Event{Seq: last.Seq + 1 + i, Turn: last.Turn + min(i, 1), Body: b})
	}
	return cut
}
