package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// onScreen is the screen of a terminal that got these writes, without the blanks at the ends of lines.
func onScreen(columns int, writes string) string {
	screen := vt.NewEmulator(columns, 400)
	_, _ = screen.Write([]byte(strings.ReplaceAll(writes, "\n", "\r\n")))
	lines := strings.Split(screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// TestLiveMarkdownComesToTheSame shows a text while it is being written, cut
// anywhere, and hides it now and then: in the end the screen is as if it had been
// printed at once.
func TestLiveMarkdownComesToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"word ", "a longer word ", "**bold** ", "`code` ", "\n", "\n\n", "- item\n", "1. one\n", "# Title\n", "```\n", "\tcode that is wider than it all is\n", "| a | b |\n|---|---|\n", "> quoted ", "---\n", "漢字",
			"~~~\n", "```go\n", "  ```\n", "        ```\n", "   three\n", "    func main() {}\n", "  \n", "- ```\n  in a list\n", "````\n",
		}), 1, 30).Draw(t, "text"), "")
		width, rows := rapid.IntRange(8, 40).Draw(t, "width"), rapid.OneOf(rapid.IntRange(1, 12), rapid.Just(300)).Draw(t, "rows")
		want := onScreen(width, printed(t, width, Palette{}, text))
		var out strings.Builder
		m := NewMarkdown(&out, width, Palette{})
		m.Live(rows)
		for text != "" {
			n := rapid.IntRange(1, min(len(text), 9)).Draw(t, "cut")
			_, err := m.Write([]byte(text[:n]))
			require.NoError(t, err)
			text = text[n:]
			if rapid.IntRange(0, 9).Draw(t, "hide") == 0 {
				require.NoError(t, m.Hide())
			}
		}
		require.NoError(t, m.Close())
		got := onScreen(width, out.String())
		if rows >= fewRows && rows < 300 { // the first lines of a long list stay as they were
			want, got = words(want), words(got)
		}
		require.Equal(t, want, got, "%q", out.String())
	})
}

func TestLiveMarkdownShowsEachWordAtOnce(t *testing.T) {
	var out strings.Builder
	m := NewMarkdown(&out, 20, Palette{})
	m.Live(10)
	var shown []string
	for _, word := range []string{"On", "ce ", "upon ", "a ", "time ", "there\n", "\nwas"} {
		_, err := m.Write([]byte(word))
		require.NoError(t, err)
		shown = append(shown, out.String())
		out.Reset()
	}
	require.Equal(t, []string{"On", "ce", " upon", " a", " time", "\nthere", "\n\nwas"}, shown, "a text that only grows is only written on")
}

func TestHiddenMarkdownLeavesNothing(t *testing.T) {
	var out strings.Builder
	m := NewMarkdown(&out, 10, Palette{})
	m.Live(10)
	_, err := m.Write([]byte("A text of several lines, half done"))
	require.NoError(t, err)
	require.Equal(t, "A text of\nseveral\nlines,\nhalf done", onScreen(10, out.String()))
	require.NoError(t, m.Hide())
	require.Empty(t, onScreen(10, out.String()))
	_, err = m.Write([]byte("."))
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.Equal(t, "A text of\nseveral\nlines,\nhalf done.", onScreen(10, out.String()))
}

// TestLiveMarkdownOnAResizedTerminal makes a terminal narrower while a block is being written. One
// that breaks lines anew has the same screen as one that had the last width from the beginning.
func TestLiveMarkdownOnAResizedTerminal(t *testing.T) {
	full := strings.Repeat("Full.\n\n", 20) // the block is at the bottom of the screen
	for name, tt := range map[string]struct{ before, more string }{
		"a paragraph":   {"Before.\n\nA paragraph with some words that take several lines ", "and more of it."},
		"a list":        {"Before.\n\n- an item with some words that take a line\n- another one of them that is long ", "enough\n- three"},
		"code":          {"Before.\n\n```go\nfunc main() {\n\treturn averylongname + anotherlongname ", "+ 7\n}\n```\n"},
		"a short line":  {"Before.\n\nword ", "and word"},
		"it ends there": {"Before.\n\nA paragraph with some words that take several lines", ""},
	} {
		for _, narrow := range []int{39, 25, 20, 13} {
			for _, hide := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", narrow, " ", hide), func(t *testing.T) {
					const wide = 40
					var out strings.Builder
					m := NewMarkdown(&out, wide, Palette{})
					m.Live(30)
					m.Reflow()
					m.Resize(wide, 31)
					_, err := m.Write([]byte(full))
					require.NoError(t, err)
					_, err = m.Write([]byte(tt.before))
					require.NoError(t, err)
					m.Resize(narrow, 31)
					if hide {
						require.NoError(t, m.Hide())
					}
					_, err = m.Write([]byte(tt.more))
					require.NoError(t, err)
					require.NoError(t, m.Close())
					// Text written to the narrow terminal from the beginning is broken as by one that
					// breaks anew. "Before." was settled, so that nothing above it moves.
					require.Equal(t, onScreen(narrow, printed(t, narrow, Palette{}, full+tt.before+tt.more)), onScreen(narrow, out.String()), "%q", out.String())
				})
			}
		}
	}
}

func TestRowsOfALine(t *testing.T) {
	for _, tt := range []struct {
		line        string
		width, rows int
	}{
		{"", 4, 1}, {"abcd", 4, 1}, {"abcde", 4, 2}, {"abcdefghi", 4, 3}, {"abcde", 0, 1}, {"\x1b[31mabcd\x1b[39m", 4, 1}, {"\x1b[31mabcde\x1b[39m", 4, 2},
		{"漢字", 4, 1}, {"漢字漢", 4, 2}, {"漢字漢", 5, 2}, {"漢字漢字", 3, 4},
	} {
		require.Equal(t, tt.rows, (&live{width: tt.width}).rows(tt.line), tt)
	}
}
