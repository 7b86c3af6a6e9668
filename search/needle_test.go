package search_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/search"
)

func TestIsBytesIndex(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		data := []byte(rapid.StringMatching(`[abAB k\n]{0,40}`).Draw(r, "data"))
		text := rapid.StringMatching(`[abAB k]{1,4}`).Draw(r, "text")
		require.Equal(r, bytes.Index(data, []byte(text)), search.NewNeedle(text, false).Index(data))
		require.Equal(r, bytes.Index(data, []byte(text)), search.NewNeedle(text, false).InText(string(data)).From(0))
		require.Equal(r, bytes.Index(bytes.ToLower(data), bytes.ToLower([]byte(text))), search.NewNeedle(text, true).Index(data))
	})
}

func TestFromFindsAll(t *testing.T) {
	f := search.NewNeedle("ab", true).In([]byte("xAB ab aB b ABab"))
	var got []int
	for at := f.From(0); at >= 0; at = f.From(at + 1) {
		got = append(got, at)
	}
	require.Equal(t, []int{1, 4, 7, 12, 14}, got)
}

// all are the places of some needles.
func all(data []byte, needles []search.Needle) map[int]bool {
	found := map[int]bool{}
	for _, n := range needles {
		f := n.In(data)
		for at := f.From(0); at >= 0; at = f.From(at + 1) {
			found[at] = true
		}
	}
	return found
}

func TestMergedNeedlesStandWhereOneDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		data := []byte(rapid.StringMatching(`[abAB x\n]{0,60}`).Draw(r, "data"))
		var needles []search.Needle
		for _, text := range rapid.SliceOfN(rapid.StringMatching(`[abAB x]{1,5}`), 0, 6).Draw(r, "texts") {
			needles = append(needles, search.NewNeedle(text, rapid.Bool().Draw(r, "fold")))
		}
		merged := search.MergeNeedles(needles)
		require.LessOrEqual(r, len(merged), len(needles))
		require.Equal(r, all(data, needles), all(data, merged))
	})
}

func TestWhatBeginsAlikeIsMerged(t *testing.T) {
	for _, tt := range []struct {
		texts []string
		few   int
	}{
		{[]string{"deadloc", "deadline"}, 1},
		{[]string{"deadlock", "deadline"}, 2}, // the k is rarer than their common bytes
		{[]string{"deadloc", "deadlocs", "deadline", "lead"}, 2},
		{[]string{"lock", "line"}, 2},
		{[]string{"same", "same"}, 1},
		{nil, 0},
	} {
		var needles []search.Needle
		for _, text := range tt.texts {
			needles = append(needles, search.NewNeedle(text, true))
		}
		require.Len(t, search.MergeNeedles(needles), tt.few, "%q", tt.texts)
	}
	mixed := []search.Needle{search.NewNeedle("deadlock", true), search.NewNeedle("deadline", false)}
	require.Len(t, search.MergeNeedles(mixed), 2, "only those that compare alike")
}
