package repo

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/agent/problem"
	"jp/conversation"
)

const someID = conversation.ID("jp-c17952552000-k3f9")

// noon is when the events of tests begin, one a minute.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// someEvents are events 0 to 9, five in each of two turns, whose commits begin
// with their number.
func someEvents() []*conversation.Event {
	var events []*conversation.Event
	for seq := range 10 {
		events = append(events, &conversation.Event{
			Seq: seq, Turn: seq/5 + 1, Time: noon.Add(time.Duration(seq) * time.Minute),
			Commit: fmt.Sprintf("%da2f9c1%033d", seq, seq), Body: &conversation.ChatRequest{},
		})
	}
	return events
}

func TestSelectEvent(t *testing.T) {
	t.Parallel()
	now := noon.Add(10 * time.Minute)
	tests := map[string]int{
		"0": 0, "@0": 0, "9": 9, "@-1": 9, "-10": 0, "@turn:1": 4, "turn:2": 9,
		"3a2f9c1": 3, "@7a2f9c10000000": 7, "0a2f9c1000000000000000000000000000000000": 0,
		"5m": 4, "@90s": 8, "10s": 9, "1min": 8, "k3f9@3": 3, "jp-c17952552000-k3f9@-1": 9, "k3f9@turn:1": 4, "2026-11-22": 9, "2026-11-21T12:03:30Z": 3, "2026-11-21T14:03:00+02:00": 2,
	}
	for e, want := range tests {
		found, err := SelectEvent(someEvents(), e, someID, now)
		require.NoError(t, err, e)
		require.Equal(t, want, found.Seq, e)
	}
}

func TestSelectNoEvent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		exit    int
		message string
	}{
		"10":         {problem.ExitNotFound, "jp-c17952552000-k3f9 has no event 10; its last is 9 (turn 2)."},
		"@-11":       {problem.ExitNotFound, "jp-c17952552000-k3f9 has no event -11; its last is 9 (turn 2)."},
		"aaaa@3":     {problem.ExitUsage, "aaaa@3 is an event of another conversation. This one is jp-c17952552000-k3f9."},
		"turn:3":     {problem.ExitNotFound, "jp-c17952552000-k3f9 has no turn 3; its last is 2."},
		"turn:first": {problem.ExitUsage, "@turn:first: a turn is a number, as in @turn:2."},
		"":           {problem.ExitNotFound, "jp-c17952552000-k3f9 has no event \"@\"; its last is 9 (turn 2)."},
		"3a2f9":      {problem.ExitNotFound, "jp-c17952552000-k3f9 has no event 3a2f9; its last is 9 (turn 2)."},
		"fffffff":    {problem.ExitNotFound, "jp-c17952552000-k3f9 has no event fffffff; its last is 9 (turn 2)."},
		"2h":         {problem.ExitNotFound, "jp-c17952552000-k3f9 has no event 2h; its last is 9 (turn 2)."},
		"2026-11-21": {problem.ExitNotFound, "jp-c17952552000-k3f9 has no event 2026-11-21; its last is 9 (turn 2)."},
	}
	for e, want := range tests {
		_, err := SelectEvent(someEvents(), e, someID, noon.Add(10*time.Minute))
		f := ProblemOf(err)
		require.Equal(t, want.exit, f.Exit, e)
		require.Equal(t, want.message, f.Message)
	}
	_, err := SelectEvent(nil, "0", someID, noon)
	require.Equal(t, "jp-c17952552000-k3f9 has no event 0.", ProblemOf(err).Message)
}

// The rest of a damaged conversation keeps its numbers.
func TestSelectFromTheEnd(t *testing.T) {
	t.Parallel()
	found, err := SelectEvent(someEvents()[2:6], "-1", someID, noon)
	require.NoError(t, err)
	require.Equal(t, 5, found.Seq)
	_, err = SelectEvent(someEvents()[2:6], "1", someID, noon)
	require.Error(t, err)
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	vienna := time.FixedZone("CET", 3600)
	tests := map[string]time.Time{
		"2h":                   noon.Add(-2 * time.Hour),
		"3d":                   noon.AddDate(0, 0, -3),
		"1w":                   noon.AddDate(0, 0, -7),
		"15min":                noon.Add(-15 * time.Minute),
		"100001d":              noon.AddDate(0, 0, -100_001),
		"15250w":               noon.AddDate(0, 0, -7*15_250),
		"2026-11-21":           time.Date(2026, 11, 21, 0, 0, 0, 0, vienna),
		"2026-11-21T11:00:00Z": time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC),
	}
	for text, want := range tests {
		got, ok := ParseTime(text, noon.In(vienna))
		require.True(t, ok, text)
		require.True(t, want.Equal(got), "%s: %v", text, got)
	}
	for _, text := range []string{"", "h", "-2h", "2 h", "2y", "99999999h", "yesterday", "2026-13-01", "12:00",
		"15251w", "20000w", "100000w", "106752d", "99999999999999999999d", "0000-01-01", "0001-01-01", "9999-12-31T23:59:59-23:00"} {
		_, ok := ParseTime(text, noon)
		require.False(t, ok, text)
	}
}

func TestSelectEventNeverPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.OneOf(rapid.String(), rapid.StringMatching(`@?(turn:)?-?[0-9a-f]{1,20}[smhdw]?`)).Draw(t, "e")
		found, err := SelectEvent(someEvents(), e, someID, noon)
		if (found == nil) == (err == nil) {
			t.Fatalf("%q: %v, %v", e, found, err)
		}
	})
}

// A reach that is far enough for an event finds the same one as all events do, and has the one before it.
func TestReachFindsTheSameEvent(t *testing.T) {
	t.Parallel()
	words := []string{"0", "@-1", "-2", "-7", "turn:1", "turn:2", "turn:3", "turn:x", "3a2f9c1", "11", "5m", "1min", "2h", "2026-11-21T12:03:30Z", "1234567", "fffffff", "", "today"}
	rapid.Check(t, func(t *rapid.T) {
		events := someEvents()
		now := noon.Add(time.Duration(rapid.IntRange(0, 15).Draw(t, "minutes")) * time.Minute)
		turn := 0
		for i, e := range events {
			if starts := i == 0 || rapid.Bool().Draw(t, "turn"); starts {
				turn++
				e.Body = &conversation.TurnStart{}
			}
			e.Turn = turn
			e.Time = e.Time.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, "clock")) * time.Second)
		}
		word := rapid.SampledFrom(words).Draw(t, "word")
		seq := rapid.IntRange(0, 11).Draw(t, "seq")
		word = rapid.SampledFrom([]string{word, fmt.Sprint(seq), fmt.Sprint(-seq)}).Draw(t, "one of")
		want, wantErr := SelectEvent(events, word, someID, now)
		enough := reachOf(word, now)
		if enough == nil {
			return
		}
		var back []*conversation.Event
		for _, e := range slices.Backward(events) {
			if back = append(back, e); e.Type() == conversation.TypeTurnStart && enough(back) {
				break
			}
		}
		slices.Reverse(back)
		found, err := SelectEvent(back, word, someID, now)
		if wantErr != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want.Seq, found.Seq)
		require.True(t, found.Seq == 0 || BySeq(back, found.Seq-1) != nil, "the event before it is there")
	})
}
