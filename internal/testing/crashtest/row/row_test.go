package row_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest/row"
)

// A log keeps the output of a test.
type log struct {
	testing.TB
	lines  []string
	failed bool
}

func (l *log) Helper()               {}
func (l *log) Log(args ...any)       { l.lines = append(l.lines, fmt.Sprint(args...)) }
func (l *log) Errorf(string, ...any) { l.failed = true }

func TestWhatIsLoggedIsParsed(t *testing.T) {
	want := row.Row{Class: "c", Name: "ext4, ordered path, power cut", Points: 90, Note: `a "quoted" note: {}`}
	var l log
	row.Log(&l, want)
	require.False(t, l.failed)
	require.Equal(t, []string{`crash-row {"class":"c","name":"ext4, ordered path, power cut","points":90,"violations":0,"note":"a \"quoted\" note: {}"}`}, l.lines)
	got, found, err := row.Parse("    some_test.go:12: " + l.lines[0] + "\n")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, want, got)
}

func TestViolationsFail(t *testing.T) {
	var l log
	row.Log(&l, row.Row{Class: "a", Name: "x", Points: 1, Violations: 1})
	require.True(t, l.failed)
}

func TestLongNotesAreCut(t *testing.T) {
	var l log
	row.Log(&l, row.Row{Class: "a", Name: "x", Points: 1, Note: strings.Repeat("ä", 5000)})
	require.Less(t, len(l.lines[0]), 2000)
	_, found, err := row.Parse(l.lines[0])
	require.True(t, found)
	require.NoError(t, err)
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, line string
		found, bad bool
	}{
		{"no row", "    x_test.go:1: something else", false, false},
		{"cut off", `crash-row {"class":"a","na`, true, true},
		{"no class", `crash-row {"name":"x","points":1}`, true, true},
		{"no name", `crash-row {"class":"a","points":1}`, true, true},
		{"nothing tried", `crash-row {"class":"a","name":"x","points":0}`, true, true},
		{"fit", `crash-row {"class":"a","name":"x","points":1}`, true, false},
	}
	for _, tt := range tests {
		_, found, err := row.Parse(tt.line)
		require.Equal(t, tt.found, found, tt.name)
		require.Equal(t, tt.bad, err != nil, tt.name)
	}
}

func TestOf(t *testing.T) {
	for value, want := range map[string]int{"": 1, "no": 1, "sample": 2, "full": 3} {
		t.Setenv(row.Env, value)
		require.Equal(t, want, row.Of(1, 2, 3), value)
	}
}
