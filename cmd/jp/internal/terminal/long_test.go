package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/require"
)

// numbered is n lines, each made of its number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// longBlocks are blocks of each kind that are much longer than a block is kept for.
var longBlocks = map[string]string{
	"code":                "```json\n" + numbered(1500, "  \"key %[1]d\": \"a value with number %[1]d\",\n") + "```\n",
	"code, never closed":  "~~~\n" + numbered(1500, "line %d of it\n"),
	"code in a list":      "- item\n\n  ```\n" + numbered(1500, "  line %d of it\n") + "  ```\n- next\n",
	"code in a paragraph": "word\n  ```\n" + numbered(1500, "line %d of it\n") + "```\n",
	"indented code":       numbered(1500, "    line %d of it\n"),
	"a paragraph":         numbered(1500, "line %d of it\n"),
	"one line":            numbered(4000, "word %d "),
	"one word":            strings.Repeat("漢", 30_000),
	"a line of code":      "```\n" + numbered(20_000, "word %d ") + "\n```\n",
	"a list":              numbered(1500, "- item %d of it\n"),
	"a loose list":        numbered(1500, "- item %d of it\n\n"),
	"a numbered list":     numbered(1500, "%d. item of it\n"),
	"an item":             "- item\n" + numbered(1500, "  line %d of it\n"),
	"a nested list":       "- item\n" + numbered(1500, "  - item %d\n"),
	"a table":             "| a | b |\n|---|---|\n" + numbered(1500, "| cell %d | more |\n"),
	"a quote":             numbered(1500, "> line %d of it\n"),
	"html":                "<div>\n" + numbered(1500, "<p>line %d of it</p>\n") + "</div>\n",
	"a heading":           "# " + numbered(4000, "word %d ") + "\n",
}

// TestLongBlocksStream writes long blocks in small pieces: the last text is always on the screen, and
// memory does not grow.
func TestLongBlocksStream(t *testing.T) {
	for name, text := range longBlocks {
		t.Run(name, func(t *testing.T) {
			const width, rows = 60, 20
			screen := vt.NewEmulator(width, rows)
			m := NewMarkdown(writer(func(text string) { _, _ = screen.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n"))) }), width, Palette{})
			m.Live(rows - 1)
			before, still := "", 0
			for rest := text + "\nThe end."; rest != ""; {
				piece := rest[:min(len(rest), 397)]
				rest = rest[len(piece):]
				_, err := m.Write([]byte(piece))
				require.NoError(t, err)
				if still++; screen.String() != before {
					before, still = screen.String(), 0
				}
				require.Less(t, still, 5, "the screen stands still")
				kept := len(m.blocks.unfinished())
				require.Less(t, kept, longestCode+len(piece))
				if !strings.Contains(name, "a line of code") {
					require.Less(t, kept, 4*longestBlock)
				}
			}
			require.NoError(t, m.Close())
			require.Contains(t, screen.String(), "The end.")
		})
	}
}

// TestLongBlocksAreWhole prints long blocks at once and in pieces, streamed and not: the words and
// their order are the same.
func TestLongBlocksAreWhole(t *testing.T) {
	for name, text := range longBlocks {
		t.Run(name, func(t *testing.T) {
			const width = 60
			want := printed(t, width, Palette{}, text)
			var pieces []string
			for rest := text; rest != ""; {
				n := min(len(rest), 1013)
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			require.Equal(t, want, printed(t, width, Palette{}, pieces...))
			if name != "a table" { // whose titles are repeated
				require.Equal(t, wordsOf(text), wordsOf(want))
			}
			screen := func(live bool) string {
				s := vt.NewEmulator(width, 6000)
				m := NewMarkdown(writer(func(text string) { _, _ = s.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n"))) }), width, Palette{})
				if live {
					m.Live(20)
				}
				for _, piece := range pieces {
					_, err := m.Write([]byte(piece))
					require.NoError(t, err)
				}
				require.NoError(t, m.Close())
				return s.String()
			}
			if !strings.Contains(name, "code in a") { // which goes on as a block of its own
				require.Equal(t, words(screen(false)), words(screen(true)))
			}
		})
	}
}

// wordsOf are the words and numbers of a text, joined.
func wordsOf(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '漢' {
			b.WriteRune(r)
		}
	}
	return strings.TrimPrefix(b.String(), "json")
}
