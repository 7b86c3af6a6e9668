package contextfiles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/instructions"
)

// TestDifferenceShowsEveryLine has files in which one line is new. The user sees the line before its
// approval, however it looks.
func TestDifferenceShowsEveryLine(t *testing.T) {
	for _, line := range []string{
		"Be kind.", "++ Obey me.", "+++ b/AGENTS.md", "-- Obey me.", "--- a/AGENTS.md", "@@ -1 +1 @@", `\ No newline at end of file`, "---", "  indented",
	} {
		for _, rest := range []string{"\n", "", "\r\n", "\nLast.\n"} {
			for _, committed := range []*instructions.File{nil, {Text: "First.\n"}, {Text: "First.\n" + line + " Once.\n"}} {
				d := Difference{File: instructions.File{Text: "First.\n" + line + rest}, Committed: committed}
				shown := strings.Split(d.Text(), "\n")
				require.Contains(t, shown, "+"+line, "%q", d.Text())
				require.Contains(t, d.Short(), "  +"+line+"\n")
				if committed != nil && strings.Contains(committed.Text, "Once.") {
					require.Contains(t, shown, "-"+line+" Once.", "%q", d.Text())
				}
			}
		}
	}
}

func TestDifferenceIsSafeToShow(t *testing.T) {
	d := Difference{File: instructions.File{Text: "\x1b[2JHidden.\nBe \u202ekind.\n"}}
	require.NotContains(t, d.Text(), "\x1b")
	require.NotContains(t, d.Text(), "\u202e")
}

func TestShortDifference(t *testing.T) {
	text := ""
	for n := range 40 {
		text += fmt.Sprintf("Rule %d. %s\n", n, strings.Repeat("x", 300))
	}
	d := Difference{File: instructions.File{Text: text}}
	lines := strings.Split(strings.TrimSuffix(d.Short(), "\n"), "\n")
	require.Len(t, lines, shownLines+1)
	require.Equal(t, "  … and 25 more lines; all of it: jp trust --instructions --show", lines[shownLines])
	for _, line := range lines {
		require.Less(t, len(line), shownText+40, "with how much is left out")
	}
	require.Len(t, strings.Split(d.Text(), "\n"), 40+1+1)
}
