package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

func TestSanitizeCases(t *testing.T) {
	cases := []struct{ name, history, want string }{ // ! is a made up response
		{"orphan call", "T Q C1.", "T Q C1. !"},
		{"matched call", "T Q C1. D1 M.", "T Q C1. D1 M."},
		{"some of several", "T Q C1 C2 C3. D2", "T Q C1 ! C2 C3. ! D2"},
		{"lone start", "T Q M. T", "T Q M."},
		{"only a start", "T", ""},
		{"start and records", "T Q M. T G W", "T Q M. G W"},
		{"start with words but no request", "T M. T Q M.", "T Q M."},
		{"words before the first request", "M. C1 D1 Q M.", "Q M."},
		{"words before the request of a turn", "T M C1 Q D1 M.", "T Q M."},
		{"orphan response", "T Q D1 M.", "T Q M."},
		{"orphan answer", "T Q A1 M.", "T Q M."},
		{"orphan question", "T Q C1. I1 D1 M.", "T Q C1. D1 M."},
		{"surplus response", "T Q C1. D1 D1 M.", "T Q C1. D1 M."},
		{"response in the next turn", "T Q C1. T Q D1 M.", "T Q C1. ! T Q M."},
		{"same id answered later", "T Q C1. T Q C1. D1 M.", "T Q C1. ! T Q C1. D1 M."},
		{"everything in pairs", "G T Q C1. I1 A1 B1 H1 L1 l1 M. W", "G T Q C1. I1 A1 B1 H1 L1 l1 M. W"},
		{"three starts", "T T T Q M.", "T Q M."},
		{"discarded", "T Q M. T Q C1. B1 G X W T Q M.", "T Q M. G X W T Q M."},
		{"cut through a call", "D1 M. T Q M.", "T Q M."},
		{"unknown types stay", "U T U Q U M. U", "U T U Q U M. U"},
		{"nothing", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			events := words(c.history).events()
			byEvent := map[*Event]string{}
			for i, e := range events {
				byEvent[e] = words(c.history)[i]
			}
			got := Sanitize(events)
			var shorthand history
			for _, e := range got {
				word, known := byEvent[e]
				if !known {
					word = "!"
				}
				shorthand = append(shorthand, word)
			}
			require.Equal(t, words(c.want), append(history{}, shorthand...))
			require.Equal(t, c.history == c.want, sameSlice(got, events), "nothing to repair, nothing new")
			require.Equal(t, words(c.history).events(), events, "the events are as they were")
		})
	}
}

func TestSanitizeMakesUpAResponse(t *testing.T) {
	events := words("T Q C1.").events()
	got := Sanitize(events)[3]
	require.Equal(t, &ToolCallResponse{For: 2, ID: id(1), Name: "tool", Content: InterruptedText, IsError: true}, got.Body)
	require.Equal(t, events[2].Time, got.Time)
	require.Equal(t, events[2].Turn, got.Turn)
}

func TestSanitizeDropsWhatJPSaidInADiscardedTurn(t *testing.T) {
	events := words("T Q G G G M. X").events()
	events[2].Body, events[3].Body = &Note{Content: "files changed"}, &Resumed{Message: "[SESSION_RESUMED]"}
	var types []Type
	for _, e := range Sanitize(events) {
		types = append(types, e.Type())
	}
	require.Equal(t, []Type{TypeConfigDelta, TypeTurnDiscarded}, types)
}

func TestSanitizeOfAnything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := anyHistory().Draw(r, "h")
		once := Sanitize(h.events())
		requireReliable(r, h, once)
		require.True(r, sameSlice(once, Sanitize(once)), "%v: not idempotent", h)
	})
}
