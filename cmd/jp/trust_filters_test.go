package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/gitcmd/approval"
)

// What is asked about filters is bounded, says when something is left out, and begins with
// what the answer changes.
func TestFiltersAreAskedAboutInBounds(t *testing.T) {
	t.Parallel()
	sheet := func(n int, text string) (s repo.FilterSheet) {
		for i := range n {
			f := approval.Filter{Name: fmt.Sprint("f", i), Clean: text, Smudge: text, Process: text}
			s.Filters = append(s.Filters, repo.Filter{Filter: f, Origins: []string{"file:.git/config"}, State: "approved"})
			s.Is = append(s.Is, f)
		}
		s.Filters[n-1].State = "new"
		return s
	}
	for name, tt := range map[string]struct {
		s   repo.FilterSheet
		cut bool
	}{
		"one":            {sheet(1, "tr a-z n-za-m"), false},
		"two":            {sheet(2, "tr a-z n-za-m"), false},
		"three":          {sheet(3, "tr a-z n-za-m"), true},
		"many":           {sheet(5000, "cat"), true},
		"long":           {sheet(1, strings.Repeat("echo a ", 50000)+"; END"), true},
		"many and long":  {sheet(500, strings.Repeat("漢字 ", 5000)), true},
		"blanks":         {sheet(1, "cat"+strings.Repeat(" ", 5000)+"; END"), true},
		"lines of a key": {sheet(1, strings.Repeat("cat\n", 500)), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := askedFilters(tt.s)
			n := len(tt.s.Is)
			require.True(t, strings.HasPrefix(text, fmt.Sprintf("f%d, from file:.git/config: new\n", n-1)), text)
			require.Less(t, len([]rune(text)), 24*100)
			require.LessOrEqual(t, strings.Count(text, "\n"), shownFilterLines+3)
			require.Equal(t, tt.cut, strings.Contains(text, "jp trust --filters --show"), text)
			require.Equal(t, tt.cut, strings.Contains(text, fmt.Sprintf("whole text of %d filter", n)), text)
		})
	}
}

// The answer binds the whole text, also what the question leaves out, and its hint shows it.
func TestFiltersApprovedInBoundsAreBoundWhole(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	long := strings.Repeat("true; ", 2000)
	p.git("config", "filter.crypt.clean", long+"cat; "+long)
	s := p.sit(80, "trust", "--filters")
	s.WaitFor("Run these filters here")
	s.prompted()
	require.Contains(t, s.Raw(), "jp trust --filters --show")
	s.Type("y")
	require.Zero(t, s.exit())
	shown := p.jp("trust", "--filters", "--show")
	require.Zero(t, shown.exit)
	require.Contains(t, shown.stdout, long+"cat; "+long)
	p.git("config", "filter.crypt.clean", long+"tac; "+long)
	require.Equal(t, 1, p.jp("trust", "--filters", "--show").exit)
}
