package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var coloured = regexp.MustCompile(`\x1b\[[\d;]*m`)

// widest is the width of the longest line of the text on the screen, in columns.
func widest(s *sitting) (columns int) {
	for line := range strings.Lines(s.Text()) {
		columns = max(columns, len([]rune(strings.TrimRight(line, " \n"))))
	}
	return columns
}

// prosaic is a place with a conversation whose answer is Markdown.
func prosaic(t *testing.T) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../text.toml", markdownScript)
	require.Zero(t, p.jp("query", "--new", "-m", "script/../text.toml", "Write **this**").exit)
	return p
}

func TestStyleOfColour(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		color, environ string
		terminal, pipe bool // whether there are colours
	}{
		"auto":                     {"auto", "", true, false},
		"auto, NO_COLOR":           {"auto", "NO_COLOR=1", false, false},
		"auto, CLICOLOR_FORCE":     {"auto", "CLICOLOR_FORCE=1", true, true},
		"always":                   {"always", "", true, true},
		"always, NO_COLOR":         {"always", "NO_COLOR=1", true, true},
		"always, on a dumb one":    {"always", "TERM=dumb", true, true},
		"never":                    {"never", "", false, false},
		"never, in spite of force": {"never", "CLICOLOR_FORCE=1", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := prosaic(t)
			p.environ = append(p.environ, tt.environ)
			p.write("../home/.config/jp/config.toml", "style.color = \""+tt.color+"\"\n")
			for _, args := range [][]string{{"query", "--new", "-m", "script/../text.toml", "Again"}, {"print"}, {"status"}, {"ls"}} {
				s := p.sit(60, args...)
				require.Zero(t, s.exit(), args)
				require.Equal(t, tt.terminal, coloured.MatchString(s.Raw()), "%s: %q", args, s.Raw())
			}
			require.Equal(t, tt.pipe, coloured.MatchString(p.jp("status").stdout))
		})
	}
}

func TestStyleOfColourAtTheChoice(t *testing.T) {
	t.Parallel()
	for color, want := range map[string]bool{"always": true, "never": false} {
		t.Run(color, func(t *testing.T) {
			t.Parallel()
			p := elsewhere(titled(t, "The first"))
			p.t = t
			s := p.sit(80, "use", "--cfg", "style.color="+color)
			s.Wait("the choice", func() bool { return chosenLine(s, "The first") })
			s.Type("\r")
			require.Zero(t, s.exit())
			require.Equal(t, want, regexp.MustCompile(`\x1b\[[\d;]*3\d[\d;]*m`).MatchString(s.Raw()), "%q", s.Raw())
		})
	}
}

func TestStyleOfWidth(t *testing.T) {
	t.Parallel()
	for width, want := range map[string]int{"0": 70, "40": 40, "200": 70} {
		t.Run(width, func(t *testing.T) {
			t.Parallel()
			p := prosaic(t)
			for _, args := range [][]string{{"print"}, {"print", "--answer"}, {"query", "-q", "--new", "-m", "script/../text.toml", "Again"}} {
				s := p.sit(70, append(args, "--cfg", "style.width="+width)...)
				require.Zero(t, s.exit(), s.Text())
				require.LessOrEqual(t, widest(s), want, "%s\n%s", args, s.Text())
				require.Greater(t, widest(s), want-15, "%s\n%s", args, s.Text())
			}
		})
	}
}

func TestStyleWithoutMarkdown(t *testing.T) {
	t.Parallel()
	p := prosaic(t)
	for _, args := range [][]string{{"print"}, {"print", "--answer"}, {"query", "--new", "-m", "script/../text.toml", "Again"}} {
		s := p.sit(200, append(args, "--cfg", "style.markdown=false")...)
		require.Zero(t, s.exit(), s.Text())
		require.Contains(t, s.Text(), "# A heading\n\nA paragraph with **bold** words and a sentence that is much longer than sixty columns, so that it is wrapped.\n\n- one\n- two")
		require.Contains(t, s.Text(), "~~~go\nfunc main() {}\n~~~")
	}
}

// A model's text on a terminal is printed there as it was shown.
func TestPrintLaysOutAsQueryDoes(t *testing.T) {
	t.Parallel()
	p := prosaic(t)
	q := p.sit(60, "query", "-q", "--new", "-m", "script/../text.toml", "Again **please**")
	require.Zero(t, q.exit())
	shown := strings.TrimSpace(q.Text())
	require.Contains(t, shown, "A heading")
	for _, args := range [][]string{{"print", "--last", "1"}, {"print", "--answer"}, {"print", "--style", "chat"}} {
		s := p.sit(60, args...)
		require.Zero(t, s.exit())
		require.Contains(t, s.Text(), shown, "%s", args)
	}
	s := p.sit(60, "print")
	require.Zero(t, s.exit())
	require.Contains(t, s.Text(), "Again **please**", "the request stays as it was written")
}

// An answer that is data is on the terminal, as it is in a pipe.
func TestDataOnATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../data.toml", "[[reply]]\ndata = { ok = true }\n")
	s := p.sit(60, "query", "-m", "script/../data.toml", "-s", `{"type":"object"}`, "Is it green?")
	require.Zero(t, s.exit(), s.Text())
	require.Equal(t, 1, strings.Count(s.Text(), "\n{\"ok\":true}\n"), s.Text())
	require.Contains(t, p.jp("print").stdout, "\n{\"ok\":true}\n")
}

func TestPrintIntoAPipeIsAsItWasWritten(t *testing.T) {
	t.Parallel()
	p := prosaic(t)
	for _, args := range [][]string{{"print"}, {"print", "--answer"}, {"print", "--cfg", "style.width=20"}} {
		require.Contains(t, p.jp(args...).stdout, "# A heading\n\nA paragraph with **bold** words and a sentence that is much longer than sixty columns, so that it is wrapped.\n")
	}
	s := p.sit(200, "print", "--format", "text")
	require.Zero(t, s.exit())
	require.Contains(t, s.Text(), "# A heading\n\nA paragraph with **bold** words")
}
