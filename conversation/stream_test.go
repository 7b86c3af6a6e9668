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

func TestModelInForce(t *testing.T) {
	started := &Event{Body: &TurnStart{Model: "a/1"}}
	delta := func(text string) *Event { return &Event{Body: &ConfigDelta{Delta: []byte(text)}} }
	for name, tt := range map[string]struct {
		events []*Event
		want   string
	}{
		"none":              {nil, ""},
		"a turn's":          {[]*Event{started}, "a/1"},
		"set in the turn":   {[]*Event{started, delta(`{"model":"b/2"}`)}, "b/2"},
		"set before it":     {[]*Event{delta(`{"model":"b/2"}`), started}, "a/1"},
		"something else":    {[]*Event{started, delta(`{"tools":{}}`)}, "a/1"},
		"damaged":           {[]*Event{started, delta(`{"model":7}`)}, "a/1"},
		"set, then another": {[]*Event{started, delta(`{"model":"b/2"}`), delta(`{"model":"c/3"}`)}, "c/3"},
	} {
		for i, e := range tt.events {
			e.Seq, e.Turn = i, 1
		}
		s, tail := SplitTail(tt.events)
		require.Equal(t, tt.want, JoinTail(s, tail).Model(), name)
		if name != "none" {
			require.Equal(t, tt.want, Summarize(tt.events).Model, name)
		}
	}
}
