package terminal

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/safetext"
)

// TestChangedWords varies a removed line and the one in its place.
func TestChangedWords(t *testing.T) {
	for name, tt := range map[string]struct{ removed, added, was, is string }{
		"a word":             {"return false", "return true", "false", "true"},
		"a part of a word":   {"name := old_name", "name := old_title", "old_name", "old_title"},
		"words between":      {"if r == 1 {", "if r == 1 || r == 2 {", "", "|| r == 2 "},
		"at the end":         {"a := f(x)", "a := f(x) // why", "", " // why"},
		"nothing in common":  {"one two", "for range list {", "", ""},
		"little in common":   {"x(aaaaaaaaaaaaaaaaa)", "x(bbbbbbbbbbbbbbbbb)", "", ""},
		"the same":           {"same", "same", "", ""},
		"longer characters":  {"say größe now", "say große now", "größe", "große"},
		"halves of a letter": {"price: 5 é", "price: 5 è", "é", "è"},
	} {
		t.Run(name, func(t *testing.T) {
			changes := []Change{{'-', 1, tt.removed}, {'+', 1, tt.added}}
			words := changedWords(changes)
			require.Equal(t, tt.was, shownLine(changes[0])[words[0][0]:words[0][1]])
			require.Equal(t, tt.is, shownLine(changes[1])[words[1][0]:words[1][1]])
		})
	}
	alone := changedWords([]Change{{'-', 1, "return a"}, {'-', 2, "return b"}, {'+', 1, "return c"}, {' ', 2, "x"}, {'+', 3, "return d"}})
	require.Equal(t, make([][2]int, 5), alone, "lines without a pair")
}

// TestChangesKeepTheirText draws random changes: a theme adds colours alone, and each row has its width.
func TestChangesKeepTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching("[ab ü漢(){}\t\x1b]{0,40}")
		var changes []Change
		for range rapid.IntRange(1, 6).Draw(t, "lines") {
			changes = append(changes, Change{rapid.SampledFrom([]byte("+- ")).Draw(t, "mark"), rapid.IntRange(1, 999).Draw(t, "number"), line.Draw(t, "text")})
		}
		width := rapid.SampledFrom([]int{0, 20, 80}).Draw(t, "width")
		environ := rapid.SampledFrom([][]string{{"TERM=xterm-256color"}, {"COLORTERM=truecolor"}, {"TERM=xterm"}}).Draw(t, "environ")
		wraps := rapid.Bool().Draw(t, "wraps")
		plain := rowsOf(Drawing{Palette{}, "a.go", 4, width, wraps}, changes)
		for _, theme := range []Theme{NoTheme, Dark, Light} {
			for i, row := range rowsOf(Drawing{Coloured().With(theme, environ), "a.go", 4, width, wraps}, changes) {
				require.Equal(t, strings.TrimRight(plain[i], " "), strings.TrimRight(ansi.Strip(row), " "))
				if width > 0 {
					require.LessOrEqual(t, safetext.Columns(row), width)
				}
			}
		}
	})
}

func rowsOf(d Drawing, changes []Change) []string { return slices.Concat(d.Rows(changes)...) }

// TestCodeOnGrounds has a keyword, a word that changed, and an added line that needs two rows.
func TestCodeOnGrounds(t *testing.T) {
	p := Coloured().With(Dark, []string{"TERM=xterm-256color"})
	rows := rowsOf(Drawing{Palette: p, File: "dir/a.go", Width: 24, Wraps: true}, []Change{{'-', 7, "return old"}, {'+', 7, "return made"}, {0, -3, "… 3 more"}, {'+', 9, `s := "abcdefghijklmnopqrstuvwxyz"`}})
	require.Equal(t, []string{
		"\x1b[2m7 \x1b[22m\x1b[48;5;52m- \x1b[38;5;176mreturn\x1b[39m \x1b[49m\x1b[48;5;88mold\x1b[49m\x1b[48;5;52m          \x1b[49m",
		"\x1b[2m7 \x1b[22m\x1b[48;5;22m+ \x1b[38;5;176mreturn\x1b[39m \x1b[49m\x1b[48;5;28mmade\x1b[49m\x1b[48;5;22m         \x1b[49m",
		"\x1b[2m  … 3 more\x1b[22m",
	}, rows[:3])
	require.Equal(t, []string{`9 + s := "abcdefghijklmn`, `    opqrstuvwxyz"       `}, []string{ansi.Strip(rows[3]), ansi.Strip(rows[4])})
	require.Contains(t, rows[4], "\x1b[38;5;150mopqrstuvwxyz", "the second row is still a string")
}

// TestGrounds has each theme in terminals of many colours and of few.
func TestGrounds(t *testing.T) {
	line := Change{'+', 7, "x"}
	for want, p := range map[string]Palette{
		"7 + x":                                {},
		"\x1b[2m7 \x1b[22m\x1b[32m+ x\x1b[39m": Coloured().With(Dark, []string{"TERM=xterm"}),
		"\x1b[2m7 \x1b[22m\x1b[48;5;22m+ x \x1b[49m":          Coloured().With(Dark, []string{"TERM=xterm-256color"}),
		"\x1b[2m7 \x1b[22m\x1b[48;2;222;246;228m+ x \x1b[49m": Coloured().With(Light, []string{"TERM=xterm", "COLORTERM=truecolor"}),
	} {
		require.Equal(t, []string{want}, rowsOf(Drawing{Palette: p, Width: 6}, []Change{line}))
	}
}
