package terminal

import (
	"strings"
	"testing"

	"jp/internal/testing/safetexttest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/safetext"
)

func bracket(text string) string { return "[" + text + "]" }

// placesOf are the places of a word in a line.
func placesOf(line, word string) (places [][2]int) {
	for at := 0; ; {
		i := strings.Index(line[at:], word)
		if i < 0 {
			return places
		}
		places = append(places, [2]int{at + i, at + i + len(word)})
		at += i + len(word)
	}
}

func TestExcerpt(t *testing.T) {
	for name, tc := range map[string]struct {
		line    string
		columns int
		want    string
	}{
		"whole":                 {"cap the retries, all retries", 40, "cap the [retries], all [retries]"},
		"no limit":              {"a\tretries" + strings.Repeat(".", 90), 0, "a\t[retries]" + strings.Repeat(".", 90)},
		"no place":              {"abcdefghij", 5, "abcd…"},
		"right end":             {"the retries go on and on", 14, "the [retries]…"},
		"left end":              {"on and on go the retries", 16, "…o the [retries]"},
		"both ends":             {"on and on go the retries and on", 16, "…e [retries] an…"},
		"a wide place":          {"on and on retries", 6, "…[ret…"},
		"tabs":                  {"\tretries", 20, "    [retries]"},
		"wide characters":       {"漢字漢字漢字retries漢字漢字", 15, "…字[retries]漢…"},
		"colour":                {"\x1b[31mretries\x1b[0m", 20, "[retries]"},
		"in a title":            {"a\x1b]0;retries\x07b", 20, "a[retries]b"},
		"reordered":             {"\u202eretries", 40, "<U+202E>[retries]"},
		"sequence around place": {"\x1b[3retries1m", 40, "[retries]1m"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, Excerpt(tc.line, placesOf(tc.line, "retries"), bracket, tc.columns))
		})
	}
}

func TestExcerptOfAPlaceWithoutWidth(t *testing.T) {
	require.Equal(t, "abc…", Excerpt("abcdef", [][2]int{{3, 3}}, func(s string) string { return s }, 4))
}

func TestExcerptBehindAWideCharacter(t *testing.T) {
	require.Equal(t, "…abc bc [NEEDLE]a", Excerpt("a漢abc bc NEEDLEa", [][2]int{{11, 17}}, bracket, 18))
}

func TestExcerptFits(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "bc ", "漢", "é", "e\u0301", "👩‍💻", "\t", "\x1b[31m", "\x1b]0;", "\u202e", "\xff", "\x07", " "})
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "before"), "")
		after := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "after"), "")
		columns := rapid.IntRange(1, 60).Draw(t, "columns")
		line := before + "NEEDLE" + after
		paint := Coloured().Bold
		shown := Excerpt(line, placesOf(line, "NEEDLE"), paint, columns)
		require.LessOrEqual(t, safetext.Columns(shown), columns)
		require.NoError(t, safetexttest.Unsafe(strings.NewReplacer("\x1b[1m", "", "\x1b[22m", "").Replace(shown)))
		require.Equal(t, strings.Count(shown, "\x1b[1m"), strings.Count(shown, "\x1b[22m"))
		if columns >= 16 {
			require.Contains(t, shown, paint("NEEDLE"))
		}
	})
}

// A search of the whole line for each column of it would not end.
func TestExcerptOfALongLine(t *testing.T) {
	line := strings.Repeat("漢字\x1b[31m ", 1<<20)
	at := len(line) / 2
	line = line[:at] + "retries" + line[at:]
	shown := Excerpt(line, placesOf(line, "retries"), bracket, 80)
	require.Contains(t, shown, "[retries]")
	require.Equal(t, 2, strings.Count(shown, "…"))
}
