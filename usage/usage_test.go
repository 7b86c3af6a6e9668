package usage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

var noon = time.Date(2026, 11, 21, 23, 30, 0, 0, time.UTC)

func answer(seq int, after time.Duration, model string, u *conversation.Usage) *conversation.Event {
	b := &conversation.ChatResponse{}
	b.Usage = u
	return &conversation.Event{Seq: seq, Time: noon.Add(after), Model: model, Body: b, Commit: string(rune('a' + seq))}
}

func TestGroup(t *testing.T) {
	branch := &conversation.Event{Git: &conversation.Git{Branch: "main"}, Body: &conversation.TurnStart{}}
	copied := answer(3, 0, "a/m", &conversation.Usage{Input: 7})
	copied.Was = new(int)
	events := []*conversation.Event{
		branch, answer(1, 0, "a/m", &conversation.Usage{Input: 100, Output: 5, CacheRead: 60, CostUSD: "0.1"}),
		answer(2, time.Hour, "b/m", &conversation.Usage{Input: 10, Output: 1}), copied, answer(4, time.Hour, "a/m", nil),
	}
	calls := Calls("jp-c1", events)
	compacted := &conversation.Event{Body: &conversation.Compaction{Model: "c/m", Usage: &conversation.Usage{Input: 3}}}
	require.Equal(t, "c/m", Calls("jp-c1", []*conversation.Event{compacted})[0].Model)
	require.Len(t, calls, 2)
	for by, keys := range map[string][]string{
		"day": {"2026-11-21", "2026-11-22"}, "model": {"a/m", "b/m"}, "conversation": {"jp-c1"}, "branch": {"main"},
	} {
		sums, total := Group(calls, by, time.UTC)
		var got []string
		for _, s := range sums {
			got = append(got, s.Key)
		}
		require.Equal(t, keys, got)
		require.Equal(t, Sum{Key: "total", Calls: 2, Input: 110, Output: 6, CacheRead: 60, CostUSD: "0.1", Unpriced: 1}, total)
		require.Equal(t, 54, total.Cached())
	}
	sums, _ := Group(calls, "day", time.FixedZone("east", 3600))
	require.Len(t, sums, 1, "both are on the next day there")
}

// TestMisses varies the events between two calls. The second reads nothing from the cache.
func TestMisses(t *testing.T) {
	warm, cold := &conversation.Usage{Input: 5000, CacheWrite: 5000}, &conversation.Usage{Input: 6000, CacheWrite: 6000}
	tests := []struct {
		name    string
		between conversation.Body
		gap     time.Duration
		model   string
		first   *conversation.Usage
		second  *conversation.Usage
		why     string
	}{
		{"a hit", nil, 0, "a/m", warm, &conversation.Usage{Input: 6000, CacheRead: 5000}, ""},
		{"nothing", nil, 0, "a/m", warm, cold, "unknown: jp sent the same beginning"},
		{"tools", &conversation.Prompt{}, 0, "a/m", warm, cold, "the tools or the system prompt changed"},
		{"a compaction", &conversation.Compaction{}, 0, "a/m", warm, cold, "the conversation was compacted, or that was undone"},
		{"a discarded turn", &conversation.TurnDiscarded{}, 0, "a/m", warm, cold, "a turn was discarded"},
		{"six minutes", nil, 6 * time.Minute, "a/m", warm, cold, "more than 5 minutes passed"},
		{"two hours", nil, 2 * time.Hour, "a/m", warm, cold, "more than an hour passed"},
		{"another model", nil, 0, "b/m", warm, cold, "the model changed from a/m"},
		{"too little to cache", nil, 0, "a/m", &conversation.Usage{Input: 1023, CacheWrite: 1}, cold, ""},
		{"a model without a cache", nil, 0, "a/m", &conversation.Usage{Input: 5000}, &conversation.Usage{Input: 6000}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events := []*conversation.Event{answer(1, 0, "a/m", test.first)}
			if test.between != nil {
				events = append(events, &conversation.Event{Seq: 2, Body: test.between})
			}
			events = append(events, answer(3, test.gap, test.model, test.second))
			misses := Misses("jp-c1", events)
			if test.why == "" {
				require.Empty(t, misses)
				return
			}
			require.Len(t, misses, 1)
			require.Equal(t, test.why, misses[0].Why)
			require.Equal(t, 3, misses[0].Seq)
		})
	}
}
