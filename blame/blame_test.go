package blame

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSameLines(t *testing.T) {
	tests := map[string]struct {
		then, now string
		want      []int
	}{
		"nothing":         {"", "", nil},
		"the same":        {"a\nb\n", "a\nb\n", []int{1, 2}},
		"one more":        {"a\nb\n", "x\na\nb\n", []int{0, 1, 2}},
		"one less":        {"a\nb\nc\n", "a\nc\n", []int{1, 3}},
		"one changed":     {"a\nb\nc\n", "a\nx\nc\n", []int{1, 0, 3}},
		"all new":         {"", "a\nb", []int{0, 0}},
		"all gone":        {"a\nb\n", "", nil},
		"without the end": {"a\nb", "a\nb", []int{1, 2}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, sameLines(tt.then, tt.now)) })
	}
}

// Every line of now has one entry, in rising order, and the entries other than 0 name an equal line.
func TestSameLinesOfAnyTexts(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "a"})).Draw(t, "lines"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		then, now := text.Draw(t, "then"), text.Draw(t, "now")
		from := sameLines(then, now)
		require.Len(t, from, lineTotal(now))
		old, current := strings.SplitAfter(then, "\n"), strings.SplitAfter(now, "\n")
		last := 0
		for i, line := range from {
			if line == 0 {
				continue
			}
			require.Greater(t, line, last)
			require.Equal(t, old[line-1], current[i])
			last = line
		}
	})
}

func TestParseBlame(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	by := parseBlame(a + " 3 1 2\nauthor Ada Lovelace\nauthor-time 86400\nsummary say it\nfilename \"od\\344d\"\n\tauthor fake\n" +
		a + " 4 2\n\t" + b + " 1 1 1\n" + b + " 1 3 1\nauthor x\nboundary\nfilename new name\n\t\n")
	first := &gitCommit{oid: a, author: "Ada Lovelace", time: time.Unix(86400, 0), summary: "say it", file: "od\xe4d"}
	second := &gitCommit{oid: b, author: "x", file: "new name"}
	require.Equal(t, map[int]attribution{1: {first, 3}, 2: {first, 4}, 3: {second, 1}}, by)
}
