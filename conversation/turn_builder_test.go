package conversation_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
	"jp/internal/testing/journaltest"
)

func refuse([]*Event) error { return errCommit }

func answer(call int) ChatResponse {
	return ChatResponse{Call: call, Part: PartMessage, Text: "done", CallEnd: CallEnd{Finish: FinishStop}}
}

// TestBuildRefuses adds one word to a history that can be built.
func TestBuildRefuses(t *testing.T) {
	cases := []struct {
		name, history, word string
		want                error // nil: it is accepted
	}{
		{"response without request", "T Q", "D1", ErrOrphanResponse},
		{"response with request", "T Q C1.", "D1", nil},
		{"second response", "T Q C1. D1", "D1", ErrDuplicateResponse},
		{"response to a held result", "T Q C1. H1", "D1", ErrDuplicateResponse},
		{"response in a later turn", "T Q C1. T Q", "D1", ErrOrphanResponse},
		{"same id in a later call", "T Q C1. D1 C1.", "D1", nil},
		{"same id in a later turn", "T Q C1. D1 M. T Q C1.", "D1", nil},
		{"surplus response to a used id", "T Q C1. D1 C1. D1", "D1", ErrDuplicateResponse},
		{"result while a question is open", "T Q C1. I1", "D1", ErrOpenInquiry},
		{"answer without question", "T Q C1.", "A1", ErrOrphanResponse},
		{"answer", "T Q C1. I1", "A1", nil},
		{"second answer", "T Q C1. I1 A1", "A1", ErrDuplicateResponse},
		{"answer in a later turn", "T Q C1. I1 T Q", "A1", ErrOrphanResponse},
		{"question about nothing", "T Q", "I1", ErrOrphanResponse},
		{"question about a closed call", "T Q C1. D1", "I1", ErrClosedCall},
		{"question about a held call", "T Q C1. H1", "I1", ErrClosedCall},
		{"second live question", "T Q C1. I1", "I1", ErrOpenInquiry},
		{"second live question, other call", "T Q C1 C2. I1", "I2", nil},
		{"second question", "T Q C1. I1 A1", "I1", nil},
		{"delivery question", "T Q C1. H1", "L1", nil},
		{"second live delivery question", "T Q C1. H1 L1", "L1", ErrOpenInquiry},
		{"second delivery question", "T Q C1. H1 L1 l1", "L1", ErrClosedCall},
		{"delivery question before the result", "T Q C1.", "L1", ErrNotHeld},
		{"delivery question about a free result", "T Q C1. D1", "L1", ErrClosedCall},
		{"start of nothing", "T Q", "B1", ErrOrphanResponse},
		{"start of a finished call", "T Q C1. D1", "B1", ErrClosedCall},
		{"start of a held call", "T Q C1. H1", "B1", ErrClosedCall},
		{"start again", "T Q C1. B1", "B1", nil},
		{"interrupt with an open call", "T Q C1.", "q", ErrOpenCalls},
		{"interrupt with a held result", "T Q C1. H1 L1", "q", ErrOpenCalls},
		{"interrupt", "T Q C1. D1", "q", nil},
		{"stop with an open call", "T Q C1.", "S", ErrOpenCalls},
		{"stop with a held result", "T Q C1. H1", "S", ErrOpenCalls},
		{"stop", "T Q P", "S", nil},
		{"request after stop", "T Q S", "q", ErrStopped},
		{"words after stop", "T Q S", "M.", ErrStopped},
		{"call after stop", "T Q S", "C1", ErrStopped},
		{"stop after stop", "T Q S", "S", ErrStopped},
		{"record after stop", "T Q S", "G", nil},
		{"turn after stop", "T Q S", "T", nil},
		{"words after discard", "T Q X", "M.", ErrStopped},
		{"start after discard", "T Q C1. X", "B1", ErrStopped},
		{"result after discard", "T Q C1. X", "D1", ErrStopped},
		{"turn after discard", "T Q C1. X", "T", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := words(c.history)
			s := reopen(h.events())
			next := append(h, c.word).events()
			var err error
			if c.word == "T" {
				err = s.StartTurn(TurnStart{}, ChatRequest{}).Build(store)
			} else {
				err = s.CurrentTurn().AddRecord(next[len(next)-1].Body).Build(store)
			}
			if c.want == nil {
				require.NoError(t, err)
				require.Greater(t, s.Len(), len(h))
				return
			}
			require.ErrorIs(t, err, c.want)
			require.Equal(t, len(h), s.Len())
			require.NoError(t, s.CheckBuilt())
		})
	}
}

func TestBuildChecksModelCalls(t *testing.T) {
	part := func(call int) ChatResponse { return ChatResponse{Call: call, Part: PartMessage} }
	tool := func(call int) ToolCallRequest { return ToolCallRequest{Call: call, ID: "x", Name: "x"} }
	cases := []struct {
		name string
		add  func(*TurnBuilder) *TurnBuilder
		want error
	}{
		{"no ordinal", func(m *TurnBuilder) *TurnBuilder { return m.AddChatResponse(part(0)) }, ErrModelCall},
		{"first", func(m *TurnBuilder) *TurnBuilder { return m.AddChatResponse(part(1)).AddToolCallRequest(tool(1)) }, nil},
		{"retry", func(m *TurnBuilder) *TurnBuilder { return m.AddChatResponse(part(1)).AddChatResponse(part(2)) }, nil},
		{"backwards", func(m *TurnBuilder) *TurnBuilder { return m.AddChatResponse(part(2)).AddToolCallRequest(tool(1)) }, ErrModelCall},
		{"behind its end", func(m *TurnBuilder) *TurnBuilder { return m.AddChatResponse(answer(1)).AddToolCallRequest(tool(1)) }, ErrModelCall},
		{"partial with an end", func(m *TurnBuilder) *TurnBuilder {
			b := answer(1)
			b.Partial = true
			return m.AddChatResponse(b)
		}, ErrPartialFinish},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := reopen(words("T Q").events())
			require.ErrorIs(t, c.add(s.CurrentTurn()).Build(store), c.want)
		})
	}
	s := reopen(words("T Q").events())
	require.Error(t, s.CurrentTurn().AddChatResponse(ChatResponse{Call: 1, Part: "song"}).Build(store))
}

func TestBuildFlushesInOrder(t *testing.T) {
	s := NewStream(journaltest.Clock())
	require.NoError(t, s.StartTurn(TurnStart{Model: "a/b"}, ChatRequest{Content: "q"}, &Event{Body: &Prompt{System: "be brief"}}).Build(store))
	m := s.CurrentTurn().
		AddToolCallRequest(ToolCallRequest{Call: 1, ID: "x", Name: "x"}).
		AddToolCallResponse(ToolCallResponse{For: 3, ID: "x"}). // its request is in the same group
		AddRecord(&ConfigDelta{Delta: []byte(`{}`)}, WithTree("7ree", Object{OID: "0b"}), WithSubject("s"), WithGit(&Git{Head: "h"})).
		AddChatResponse(answer(2), WithProvider([]byte(`{}`)), WithPayload(Payload{Name: "p"}))
	require.Equal(t, 7, m.Next())
	var committed []*Event
	require.NoError(t, m.Build(func(events []*Event) error {
		require.Equal(t, 3, s.Len(), "nothing is part of the stream before it is durable")
		require.Empty(t, s.Tail().ToolCalls)
		committed = events
		return nil
	}))
	require.Equal(t, committed, s.Events()[3:])
	var types []Type
	for i, e := range s.Events() {
		types = append(types, e.Type())
		require.Equal(t, i, e.Seq)
		require.Equal(t, 1, e.Turn)
		require.Equal(t, "a/b", e.Model)
		require.Equal(t, time.UTC, e.Time.Location())
	}
	require.Equal(t, []Type{TypeTurnStart, TypePrompt, TypeChatRequest, TypeToolCallRequest, TypeToolCallResponse, TypeConfigDelta, TypeChatResponse}, types)
	require.Equal(t, "7ree", committed[2].Tree)
	require.Equal(t, "h", committed[2].Git.Head)
	require.Len(t, committed[2].Objects, 1)
	require.NotNil(t, committed[3].Payload("p"))
	require.True(t, s.Tail().Complete())
}

func TestBuildIsAtomic(t *testing.T) {
	for _, commit := range []Commit{refuse, func([]*Event) error { return ErrHeadMoved }} {
		s := reopen(words("T Q C1.").events())
		events, tail := slices.Clone(s.Events()), s.Tail()
		call := tail.ToolCall(2)
		m := s.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 2, ID: id(1)}).AddChatResponse(answer(9))
		require.Error(t, m.Build(commit))
		require.Equal(t, events, s.Events())
		require.Equal(t, 3, s.NextSeq())
		require.True(t, call.Open(), "a ledger that a reader holds is not touched")
		require.Equal(t, LedgerOf(events), s.Tail())
		require.NoError(t, s.CheckBuilt())
		require.ErrorIs(t, m.Build(store), ErrBuilt)

		require.Error(t, s.StartTurn(TurnStart{}, ChatRequest{}).Build(commit))
		require.Error(t, s.Append(commit, &Event{Body: &ConfigDelta{}}))
		require.Equal(t, events, s.Events())
		require.Equal(t, LedgerOf(events), s.Tail())
		require.NoError(t, s.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 2, ID: id(1)}).Build(store), "it can be tried again")
	}
}

func TestBuildAddsNoHalf(t *testing.T) {
	s := reopen(words("T Q").events())
	called := false
	err := s.CurrentTurn().AddChatResponse(answer(1)).AddToolCallResponse(ToolCallResponse{For: 9}).
		Build(func([]*Event) error { called = true; return nil })
	require.ErrorIs(t, err, ErrOrphanResponse)
	require.False(t, called)
	require.Equal(t, 2, s.Len())
	require.False(t, s.Tail().Complete())
}

func TestBuildOfNothing(t *testing.T) {
	for _, s := range []*Stream{NewStream(nil), reopen(words("T Q").events())} {
		n := s.Len()
		require.NoError(t, s.CurrentTurn().Build(func([]*Event) error { return errors.New("called") }))
		require.NoError(t, s.Append(refuse))
		require.Equal(t, n, s.Len())
	}
}

func TestBuildNeedsARequest(t *testing.T) {
	s := NewStream(nil)
	require.ErrorIs(t, s.CurrentTurn().AddRecord(&ConfigDelta{}).Build(store), ErrNoRequest)
	require.ErrorIs(t, s.CurrentTurn().AddRecord(&TurnStopped{}).Build(store), ErrNoRequest)
	require.ErrorIs(t, s.CurrentTurn().AddChatResponse(answer(1)).AddChatRequest(ChatRequest{}).Build(store), ErrNoRequest,
		"an answer has something before it")
	require.Zero(t, s.Len())
}

func TestCurrentTurnInjectsAStart(t *testing.T) {
	for name, s := range map[string]*Stream{"empty": NewStream(nil), "records": NewStream(nil)} {
		t.Run(name, func(t *testing.T) {
			if name == "records" {
				require.NoError(t, s.Append(store, &Event{Body: &Metadata{}}))
				require.Equal(t, PhaseIdle, s.Tail().Phase())
			}
			n := s.Len()
			m := s.CurrentTurn()
			require.Equal(t, n+1, m.Next(), "the start comes first")
			require.NoError(t, m.AddChatRequest(ChatRequest{Content: "q"}).Build(store))
			require.Equal(t, n+2, s.Len())
			require.Equal(t, TypeTurnStart, s.Events()[n].Type())
			require.Equal(t, n+1, s.Last().Seq)
			require.Equal(t, 1, s.TurnNumber())
			require.Equal(t, StatusResponse, s.Tail().Status())
			require.Equal(t, LedgerOf(s.Events()[n:]), s.Tail())
		})
	}
}

func TestCurrentTurnGoesOnWithATurnWithoutStart(t *testing.T) {
	s := reopen(words("Q C1.").events())
	require.NoError(t, s.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 1, ID: id(1)}).Build(store))
	require.Equal(t, StatusFollowUp, s.Tail().Status())
	require.Equal(t, 3, s.Len())
}

func TestTurnStartOnlyByStartTurn(t *testing.T) {
	s := reopen(words("T Q M.").events())
	require.ErrorIs(t, s.CurrentTurn().AddRecord(&TurnStart{}).Build(store), ErrTurnStart)
	require.ErrorIs(t, NewStream(nil).CurrentTurn().AddRecord(&TurnStart{}).AddChatRequest(ChatRequest{}).Build(store), ErrTurnStart)
	m := s.StartTurn(TurnStart{}, ChatRequest{}, &Event{Body: &TurnStart{}})
	require.ErrorIs(t, m.Build(store), ErrTurnStart)
	require.NoError(t, s.StartTurn(TurnStart{Model: "c/d"}, ChatRequest{}).Build(store))
	require.Equal(t, 2, s.TurnNumber())
	require.Equal(t, "c/d", s.Model())
}

func TestCheckBuilt(t *testing.T) {
	s := reopen(words("T Q").events())
	s.CurrentTurn()
	require.NoError(t, s.CheckBuilt(), "a handle without events")
	m := s.CurrentTurn().AddChatResponse(answer(1))
	require.ErrorIs(t, s.CheckBuilt(), ErrNotBuilt)
	require.NoError(t, m.Build(store))
	require.NoError(t, s.CheckBuilt())
	s.StartTurn(TurnStart{}, ChatRequest{})
	s.CurrentTurn()
	require.ErrorIs(t, s.CheckBuilt(), ErrNotBuilt, "a later handle hides nothing")
}

func TestBuildOfAnOvertakenHandle(t *testing.T) {
	s := reopen(words("T Q C1.").events())
	late := s.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 2, ID: id(1)})
	require.NoError(t, s.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 2, ID: id(1)}).Build(store))
	require.ErrorIs(t, late.Build(store), ErrHeadMoved)
	require.Equal(t, 4, s.Len())
}

func TestDuplicateResponseMustNameItsCall(t *testing.T) {
	s := reopen(words("T Q C1.").events())
	err := s.CurrentTurn().AddToolCallResponse(ToolCallResponse{For: 2, ID: "other"}).Build(store)
	require.ErrorIs(t, err, ErrOrphanResponse)
}

func TestDraftCompletesACollectedEvent(t *testing.T) {
	s := reopen(words("T Q").events())
	m := s.CurrentTurn().AddChatResponse(answer(1)).AddRecord(&ConfigDelta{})
	require.NoError(t, m.Draft(0, WithSubject("first")).Draft(-1, WithSubject("last")).Build(store))
	require.Equal(t, "first", s.Events()[2].Subject)
	require.Equal(t, "last", s.Events()[3].Subject)
}
