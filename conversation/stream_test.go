package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestStreamEmpty(t *testing.T) {
	s := NewStream(nil)
	require.Zero(t, s.Len())
	require.Zero(t, s.NextSeq())
	require.Zero(t, s.TurnNumber())
	require.Nil(t, s.Last())
	require.Empty(t, s.Model())
	require.Equal(t, PhaseIdle, s.Tail().Phase())
	require.NoError(t, s.CheckBuilt())
}

func TestAppendTakesOnlyRecords(t *testing.T) {
	dialogue := []Body{
		&TurnStart{}, &Prompt{}, &Note{}, &ChatRequest{}, &ChatResponse{}, &ToolCallRequest{}, &ToolStarted{}, &ToolCallResponse{},
		&InquiryRequest{}, &InquiryResponse{}, &Unknown{Name: "x"},
	}
	for _, b := range dialogue {
		s := reopen(words("T Q").events())
		err := s.Append(store, &Event{Body: &ConfigDelta{}}, &Event{Body: b})
		require.ErrorIs(t, err, ErrNotRecord, "%T", b)
		require.Equal(t, 2, s.Len())
		require.NoError(t, s.CheckBuilt())
	}
	records := []Body{
		&ConfigDelta{}, &Metadata{}, &ForkOrigin{}, &Workspace{}, &TurnStopped{}, &TurnInterrupted{}, &Resumed{}, &Restored{},
		&WorkState{}, &TurnDone{}, &TurnDiscarded{},
	}
	for _, b := range records {
		s := reopen(words("T Q").events())
		require.NoError(t, s.Append(store, &Event{Body: b}), "%T", b)
		require.Equal(t, 1, s.Last().Turn)
		require.Equal(t, 2, s.Last().Seq)
	}
}

func TestAppendBeforeTheFirstTurn(t *testing.T) {
	s := NewStream(nil)
	require.NoError(t, s.Append(store, &Event{Body: &Metadata{}}, &Event{Body: &ConfigDelta{}}))
	require.Zero(t, s.Last().Turn)
	require.Equal(t, reopen(s.Events()).Tail(), s.Tail(), "as a process sees it that loads it")
	require.NoError(t, s.StartTurn(TurnStart{}, ChatRequest{}).Build(store))
	require.Equal(t, 1, s.TurnNumber())
	require.Equal(t, 3, s.Last().Seq)
}

func TestAppendHoldsItselfToTheRules(t *testing.T) {
	s := reopen(words("T Q C1.").events())
	require.ErrorIs(t, s.Append(store, &Event{Body: &TurnStopped{}}), ErrOpenCalls)
	require.ErrorIs(t, NewStream(nil).Append(store, &Event{Body: &TurnStopped{}}), ErrNoRequest)
}

func TestStreamAgreesWithItsReload(t *testing.T) {
	everyValid(t, 3, allWords, func(h history, s *Stream, _ Summary) {
		fresh := reopen(s.Events())
		if fresh.NextSeq() != s.NextSeq() || fresh.TurnNumber() != s.TurnNumber() || fresh.Tail().Phase() != s.Tail().Phase() {
			t.Fatalf("%v differs after a restart", h)
		}
	})
}
