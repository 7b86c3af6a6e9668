package safetext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBound(t *testing.T) {
	for _, tt := range []struct {
		line    string
		columns int
		want    string
	}{
		{"sh -c 'go test ./...'", 40, "sh -c 'go test ./...'"},
		{"sh -c 'touch x #" + strings.Repeat(" ", 4000) + "git status'", 80, "sh -c 'touch x #⟨4000 blanks⟩git status'"},
		{strings.Repeat("a", 50) + strings.Repeat("b", 50), 30, strings.Repeat("a", 20) + " …⟨70 more characters⟩… " + strings.Repeat("b", 10)},
		{strings.Repeat("漢", 30), 30, strings.Repeat("漢", 10) + " …⟨15 more characters⟩… " + strings.Repeat("漢", 5)},
		{"", 10, ""},
	} {
		require.Equal(t, tt.want, Bound(tt.line, tt.columns))
	}
}

func TestBoundKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-z漢 ]{0,200}`).Draw(t, "line")
		columns := rapid.IntRange(6, 60).Draw(t, "columns")
		got := Bound(line, columns)
		require.LessOrEqual(t, Columns(got), columns+len(" …⟨200 more characters⟩… "))
		require.NotRegexp(t, ` {9}`, got)
		if !strings.HasPrefix(line, " ") && line != "" {
			require.Equal(t, []rune(line)[0], []rune(got)[0])
		}
	})
}
