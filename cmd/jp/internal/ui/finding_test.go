package ui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/doctor"
)

func TestWrapWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                   {""},
		"one":                {"one"},
		"one two":            {"one two"},
		"one two three":      {"one two", "three"},
		"abcdefghij":         {"abcdefgh", "ij"},
		"a abcdefghijk b":    {"a", "abcdefgh", "ijk b"},
		"abcdefgh":           {"abcdefgh"},
		"漢字漢字漢字":             {"漢字漢字", "漢字"},
		"abcdefghabcdefgh":   {"abcdefgh", "abcdefgh"},
		"  spaces   go away": {"spaces", "go away"},
	} {
		require.Equal(t, want, wrapWords(text, 8), text)
	}
	require.Equal(t, []string{"漢", "字"}, wrapWords("漢字", 1), "no line is empty")
}

func TestFindingLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	lines := FindingLines{To: &out}
	lines.Write(doctor.Finding{Level: doctor.OK, Topic: "git", Text: "git\n1.2\x1b[2J"})
	lines.Write(doctor.Finding{Level: doctor.Warn, Topic: "x", Text: "y", Advice: "z"})
	lines.Width = 26
	lines.Write(doctor.Finding{Level: doctor.Fail, Topic: "damage", Text: "this is longer than a line"})
	require.Equal(t, "ok    git: git 1.2\nwarn  x: y → z\nfail  damage: this is\n      longer than a line\n", out.String())
}
