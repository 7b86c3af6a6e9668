package terminal

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/safetext"
)

func TestWrap(t *testing.T) {
	tests := map[string]struct {
		width int
		in    []span
		want  []string
	}{
		"nothing":         {5, nil, nil},
		"words":           {5, []span{{text: "ab cd ef"}}, []string{"ab cd", "ef"}},
		"a long word":     {5, []span{{text: "ab cdefghijk lm"}}, []string{"ab", "cdefg", "hijk", "lm"}},
		"Chinese":         {6, []span{{text: "漢字漢字。「漢字」"}}, []string{"漢字漢", "字。", "「漢", "字」"}},
		"beside Latin":    {5, []span{{text: "ab漢字"}}, []string{"ab漢", "字"}},
		"emoji":           {4, []span{{text: "👩‍👩‍👧 🇩🇪 ☁️"}}, []string{"👩‍👩‍👧", "🇩🇪", "☁️"}},
		"wider than all":  {1, []span{{text: "a漢"}}, []string{"a", "漢"}},
		"no-break space":  {4, []span{{text: "a b\u00a0c"}}, []string{"a", "b\u00a0c"}},
		"breaks":          {9, []span{{text: "a "}, lineBreak, {text: " b"}}, []string{"a", "b"}},
		"kept spaces":     {9, []span{{"  a   b", verbatim}}, []string{"  a   b"}},
		"too many spaces": {4, []span{{"      abc", verbatim}}, []string{" abc"}},
		"across lines":    {3, []span{{"ab cd", bold}, {text: " e"}}, []string{"\x1b[1mab\x1b[0m", "\x1b[1mcd\x1b[0m", "e"}},
		"glued looks":     {4, []span{{"ab", bold}, {"cd", code | italic}}, []string{"\x1b[1mab\x1b[0m\x1b[3;36mcd\x1b[0m"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := &document{palette: Coloured()}
			require.Equal(t, test.want, d.wrap(test.in, test.width))
		})
	}
	plain := &document{}
	require.Equal(t, []string{"ab"}, plain.wrap([]span{{"a", bold}, {"b", address}}, 9))
}

// Wrapping removes spaces only, and no line is too wide.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := safetext.Clean(strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.String(), rapid.StringMatching(`[a-z漢、]{0,12} ?`), rapid.SampledFrom([]string{"☁️", "🇩🇪", " ", "\u0301"}),
		), 1, 9).Draw(t, "text"), ""))
		width := rapid.IntRange(1, 30).Draw(t, "width")
		lines := new(document).wrap([]span{{text: text}}, width)
		require.Equal(t, inked(text), inked(strings.Join(lines, "")))
		for _, line := range lines {
			require.LessOrEqual(t, safetext.Columns(line), max(width, 2))
		}
	})
}

// inked is a text without its spaces and without the marks on them.
func inked(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || combines(r) {
			return -1
		}
		return r
	}, text)
}
