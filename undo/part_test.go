package undo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// TestUndoReach reads back through three turns of four events, of which only the first and the last name the
// conversation's place.
func TestUndoReach(t *testing.T) {
	t.Parallel()
	var all []*conversation.Event
	for turn := 1; turn <= 3; turn++ {
		for i := range 4 {
			e := &conversation.Event{Seq: len(all), Turn: turn, Commit: string(rune('a' + len(all))), Body: &conversation.ChatRequest{}}
			if i == 0 {
				e.Body = &conversation.TurnStart{}
				if turn != 2 {
					e.Git = &conversation.Git{}
				}
			}
			all = append(all, e)
		}
	}
	for name, tt := range map[string]struct {
		event  *conversation.Event
		known  recordedUntil
		is     bool
		oldest int
	}{
		"the last turn":                {nil, recordedUntil{9, "j"}, true, 4},
		"a turn that says no place":    {all[5], recordedUntil{9, "j"}, true, 0},
		"known further back":           {nil, recordedUntil{2, "c"}, true, 0},
		"another event in its place":   {nil, recordedUntil{9, "x"}, false, 8},
		"one of an older history":      {all[1], recordedUntil{5, "x"}, false, 4},
		"nothing is before the event":  {all[2], recordedUntil{9, "j"}, false, 0},
		"known of events that went":    {nil, recordedUntil{20, "u"}, false, 8},
		"the place is further back":    {all[9], recordedUntil{11, "l"}, true, 4},
		"the newest event is known":    {nil, recordedUntil{11, "l"}, true, 4},
		"the oldest event is the last": {nil, recordedUntil{0, "a"}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := undoReach{event: tt.event, known: tt.known}
			var back []*conversation.Event
			for _, e := range slices.Backward(all) {
				if back = append(back, e); e.Type() == conversation.TypeTurnStart && r.enough(back) {
					break
				}
			}
			require.Equal(t, tt.is, r.complete)
			require.Equal(t, tt.oldest, back[len(back)-1].Seq)
		})
	}
}
