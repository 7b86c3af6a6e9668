package safetext

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShown(t *testing.T) {
	long := strings.Repeat("x", 2*maxColumns)
	for in, want := range map[string]string{
		"":                                      "",
		"plain\n\n\ttext  \n":                   "plain\n\n\ttext  \n",
		"é 漢 👩‍💻 \xff":                          "é 漢 👩‍💻 \xff",
		"\x1b[31mred\x1b[0m":                    "red",
		"\x1b[1;38;5;12;4;7mmany\x1b[m":         "many",
		"a  \r\nb\r\n":                          "a  \nb\n",
		"10%\r20%\r100%\n":                      "100%\n",
		"100%\r9%\n":                            "9%0%\n",
		"100%\r\x1b[K9%\n":                      "9%\n",
		"loading…\r\x1b[2Kdone\n":               "done\n",
		"loading…\r\x1b[K":                      "",
		"loading\r       \rok\n":                "ok\n",
		"abc\b\bX\n":                            "aXc\n",
		"N\bNA\bAM\bME\bE\n":                    "NAME\n",
		"_\bu_\bn":                              "un",
		"a\a\x00\x7fb":                          "ab",
		"a\x1b]0;title\ab":                      "ab",
		"a\x1b]8;;http://x\x1b\\link\x1b]8;;\a": "alink",
		"a\x1b]0;✓ never ended\nshown":          "a\nshown",
		"a\x1bPq#0\x1b\\b":                      "ab",
		"a\x1b(Bb":                              "ab",
		"a\u009b31mb":                           "a31mb",
		"a\u0085b":                              "a\nb",
		"a\fb\vc":                               "a\nb\nc",
		"a\x1b[20Gb":                            "a b",
		"a\x1b[99999999999999999999Cb":          "a b",
		"abcdef\x1b[3D\x1b[1KX":                 " Xef",
		"abcdef\x1b[4D\x1b[2Xg":                 "abg ef",
		"abcdef\x1b[4D\x1b[2P":                  "abef",
		"漢字\r\x1b[Cx":                           " x字",
		"漢字\rx":                                 "x 字",
		"e\u0301a\rx":                           "xa",
		"a\tb\rc":                               "c\tb",
		"a\tb\r\tc":                             "a\tc",
		"a: 1\nb: 1\n\x1b[2Aa: 2\n\x1b[Bc\n":    "a: 2\nb: 1\nc\n",
		"a: 1\nb: 1\n\x1b[2A\x1b[Jdone\n":       "done\n",
		"a\nb\n\x1b[2A\x1b[2KA\n\x1b[2KB\n":     "A\nB\n",
		"a\n\x1bMb":                             "b\n",
		"\x1b7a\x1b8b":                          "b",
		"log\n\x1b[2J\x1b[H1\x1b[2J\x1b[H2\n":   "log\n2\n",
		"log\n\x1b[?1049h\x1b[Hvi\x1b[?1049lx":  "log\nx",
		"\x1b[?1049h\x1b[2;5Hvi":                " vi",
		"\x1b[3;1Hc\x1b[1;1Ha":                  "a\nc",
		"\x1b[999A\x1b[5Bx":                     "x",
		"a\x1b":                                 "a",
		"a\x1b[":                                "a",
		"a\x1b[1\n2":                            "a\n2",
		long + "\rshort":                        long + "\nshort",
		"\x1b[?25l\x1b[?2004h>\x1b[?25h":        ">",
	} {
		require.Equal(t, want, Shown(in), "%q", in)
	}
}

// Lines far above are out of a cursor's reach, and all of them stay.
func TestShownKeepsWhatLeftTheScreen(t *testing.T) {
	var in, want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&in, "%d\n", i)
		if i < 1000-reach+1 {
			fmt.Fprintf(&want, "%d\n", i)
		}
	}
	in.WriteString("\x1b[500A\x1b[Jend")
	require.Equal(t, want.String()+"end", Shown(in.String()))
	bars := strings.Repeat("\r50%\r\x1b[K", 20_000)
	require.Equal(t, "100%", Shown(bars+"100%"))
}

// Output of progress bars in a few lines looks as on an emulated terminal.
func TestShownIsWhatATerminalShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "bc", "def", "\r", "\n", "\b", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[J", "\x1b[C", "\x1b[2D", "\x1b[G", "\x1b[31m",
		}), 0, 30).Draw(t, "pieces")
		// A cursor goes down as far as the written rows.
		out := strings.Repeat("\n", 35) + "\x1b[35A" + strings.Join(pieces, "")
		screen := vt.NewEmulator(90, 40)
		_, _ = screen.Write([]byte(strings.ReplaceAll(out, "\n", "\r\n")))
		require.Equal(t, letters(screen.String()), letters(Shown(out)), "%q", out)
	})
}

// letters are the lines with their characters, without blanks.
func letters(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), ""); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func FuzzShown(f *testing.F) {
	for _, seed := range []string{"a\rb", "\x1b[2J\x1b[5;9Hx\x1b[1K", "漢\bx\t\x1b[?1049hy\x1b[?1049l", "\x1b]0;t\a\x1b7\n\x1b8\x1b[3P", "\u009b1m\u0085\xc2", "\x1b[1024G\x1b[XAB\x1bM"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := Shown(in)
		require.LessOrEqual(t, len(out), len(in))
		require.False(t, controlled(out), "%q becomes %q", in, out)
		require.True(t, utf8.ValidString(out) || !utf8.ValidString(in))
		require.Equal(t, out, Shown(out), "it is shown as it is")
		require.Equal(t, out, Shown(in), "twice the same")
	})
}

// The work is linear in the output, for any content.
func TestShownTakesItsTime(t *testing.T) {
	for _, piece := range []string{
		"\x1b[1024G\x1b[1Kx", "\r\x1b[1024Cx\r\x1b[P", "\x1b[2J\x1b[100;1Hx", "\x1b[100;1H\x1b[1;1H\x1b[J", "e\u0301\u0301\u0301\b", "\u0301", "\x1b]0;", "\x1b[", "\x1b", "\r漢", "x\n\x1b[99A", "\x1b[;;;;",
		"\x1b[?1049h\x1b[?1049l", "\x1bM\n\n", "\x1b7\n\x1b8",
	} {
		in := strings.Repeat("x", 1000) + "\r" + strings.Repeat(piece, (2<<20)/len(piece))
		began := time.Now()
		out := Shown(in)
		require.LessOrEqual(t, len(out), len(in))
		require.Less(t, time.Since(began), 20*time.Second, "%q", piece)
		t.Logf("%-30q %v", piece, time.Since(began))
	}
}
