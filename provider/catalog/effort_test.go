package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEffortOf(t *testing.T) {
	tests := []struct{ word, levels, want string }{
		{"", "low medium high", ""},
		{"high", "low medium high", "high"},
		{"max", "low medium high", "high"},
		{"max", "low medium high xhigh max", "max"},
		{"max", "low high xhigh", "xhigh"},
		{"off", "none low high", "none"},
		{"off", "minimal low", "minimal"},
		{"off", "low medium", "low"},
		{"medium", "low high max", "high"},
		{"medium", "low", "low"},
		{"low", "high max", "high"},
		{"low", "minimal", "minimal"},
		{"max", "", "xhigh"},
		{"off", "", "none"},
		{"high", "", "high"},
		{"high", "deep deeper", "high"},
		{"xhigh", "low medium high", "xhigh"},
		{"minimal", "", "minimal"},
		{"ultra", "low high", "ultra"},
		{"none", "low", "none"},
	}
	for _, tc := range tests {
		require.Equal(t, tc.want, effortOf(tc.word, strings.Fields(tc.levels), openaiEffort), "%s of %s", tc.word, tc.levels)
	}
}

// TestAnswerByTheTable: a protocol that wants a length gets the table's, within bounds.
func TestAnswerByTheTable(t *testing.T) {
	require.Equal(t, 5, Options{MaxTokens: 5, Facts: Model{Output: 9}}.answer())
	require.Equal(t, 9, Options{Facts: Model{Output: 9}}.answer())
	require.Equal(t, mostAnswer, Options{Facts: Model{Output: 512_000}}.answer())
	require.Zero(t, Options{}.answer())
}
