package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

// anyHistory draws words that need not fit together.
func anyHistory() *rapid.Generator[history] {
	return rapid.Custom(func(t *rapid.T) history {
		return rapid.SliceOfN(rapid.SampledFrom(append([]string{"Q", "U", "W"}, allWords...)), 0, 14).Draw(t, "history")
	})
}

func TestSplitCases(t *testing.T) {
	cases := []struct {
		name, history string
		complete      int  // events of the stream
		tail, empty   bool // there is a tail of just its start
	}{
		{"nothing", "", 0, false, false},
		{"records only", "G W", 2, false, false},
		{"complete", "T Q M.", 3, false, false},
		{"incomplete", "T Q", 0, true, false},
		{"incomplete behind complete", "T Q M. T Q C1.", 3, true, false},
		{"lone start", "T Q M. T", 3, true, true},
		{"lone start with records", "T Q M. T G W", 3, true, true},
		{"broken earlier turn", "T Q C1. T Q M.", 6, false, false},
		{"stopped", "T Q S", 3, false, false},
		{"discarded", "T Q C1. X", 4, false, false},
		{"discarded, records behind", "T Q C1. X G", 5, false, false},
		{"no start", "Q M", 0, true, false},
		{"records before", "W T Q", 1, true, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			events := words(c.history).events()
			s, tail := SplitTail(events)
			require.Equal(t, c.complete, s.Len())
			require.Equal(t, c.tail, tail != nil)
			if tail != nil {
				require.Equal(t, c.empty, tail.Empty())
				require.Equal(t, events[c.complete:], tail.Events)
				require.Equal(t, c.complete, tail.First())
				require.Equal(t, len(events)-1, tail.Last())
			}
			require.Equal(t, len(events), JoinTail(s, tail).Len())
		})
	}
}

func TestSplitEmptyTailWaitsForNothing(t *testing.T) {
	s, tail := SplitTail(words("T Q M. T").events())
	require.Equal(t, StatusIdle, tail.Status())
	require.Equal(t, PhaseIdle, tail.Phase())
	joined := JoinTail(s, tail)
	require.NoError(t, joined.StartTurn(TurnStart{}, ChatRequest{}).Build(store), "the next turn takes its place")
	require.Equal(t, 5, joined.Last().Seq)
	require.Len(t, Sanitize(joined.Events()), 5, "readers do not see the empty one")
}

func TestSplitAndJoinOfAnything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := anyHistory().Draw(r, "h")
		for n := range len(h) + 1 {
			checkSplit(r, h[:n], h[:n].events())
		}
	})
}

func TestJoinDoesNotTouchItsParts(t *testing.T) {
	events := words("T Q M. T Q").events()
	s, tail := SplitTail(events)
	joined := JoinTail(s, tail)
	require.NoError(t, joined.CurrentTurn().AddChatResponse(answer(1)).Build(store))
	require.Equal(t, 3, s.Len())
	require.Len(t, tail.Events, 2)
	require.Len(t, tail.Ledger().Calls, 0)
	require.NoError(t, s.StartTurn(TurnStart{}, ChatRequest{}).Build(store))
	require.Equal(t, TypeTurnStart, events[3].Type())
	require.Equal(t, words("T Q M. T Q").events(), events)
}

func TestTurns(t *testing.T) {
	cases := []struct {
		history string
		lengths []int
	}{
		{"", nil},
		{"G W", nil},
		{"T", []int{1}},
		{"G T Q", []int{2}},
		{"T Q M. T Q", []int{3, 2}},
		{"Q M. T Q", []int{2, 2}},
		{"G Q T", []int{2, 1}},
		{"T T T Q", []int{1, 1, 2}},
	}
	for _, c := range cases {
		var lengths []int
		for turn := range Turns(words(c.history).events()) {
			lengths = append(lengths, len(turn.Events))
			require.Equal(t, turn.Events[0].Turn, turn.Number)
		}
		require.Equal(t, c.lengths, lengths, c.history)
	}
	rapid.Check(t, func(r *rapid.T) {
		var last Turn
		events := anyHistory().Draw(r, "h").events()
		for last = range Turns(events) {
		}
		require.Equal(r, last, NewestTurn(events))
	})
	for turn := range Turns(words("Q M. T Q").events()) {
		require.Equal(t, 0, turn.First(), "a reader may stop early")
		break
	}
}

func TestTurnSchema(t *testing.T) {
	events := words("T Q C1. D1 q T Q").events()
	var schemas []string
	events[1].Body = &ChatRequest{Schema: []byte(`{"type":"object"}`)}
	events[4].Body = &ChatRequest{Interrupt: true}
	for turn := range Turns(events) {
		schemas = append(schemas, string(turn.Schema()))
	}
	require.Equal(t, []string{`{"type":"object"}`, ""}, schemas, "not from a reply, not from the turn before")
}
