package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/cmd/jp/internal/terminal"
)

func TestAFitFoldsBeforeItHides(t *testing.T) {
	difference := []string{" a", " b", "-c", "-d", "+e", "+f", " g", " h", " i", "@@ -40 +40 @@", "+j"}
	wide := "+" + strings.Repeat("0123456789", 3)
	for _, test := range []struct {
		name string
		body []string
		rows int
		want []string
	}{
		{"all", difference, 11, difference},
		{"unchanged lines first", difference, 8, []string{" … 2 unchanged", "-c", "-d", "+e", "+f", " … 3 unchanged", "@@ -40 +40 @@", "+j"}},
		{"then removed ones", difference, 7, []string{" … 2 unchanged", "-… 2 removed", "+e", "+f", " … 3 unchanged", "@@ -40 +40 @@", "+j"}},
		{"added ones are counted", difference, 4, []string{" … 2 unchanged", "-… 2 removed", "+e", "2 added lines hidden: d"}},
		{"others are counted where none is added", []string{"@@", "-a", "@@", "-b", "@@", "-c"}, 3, []string{"@@", "-a", "4 lines hidden: d"}},
		{"a line wider than the screen", []string{wide}, 2, []string{"+01234567890123456", " 7890123456789"}},
		{"of which a part is hidden", []string{"+a", wide, "+b"}, 3, []string{"+a", "+01234567890123456", "2 added lines hidden: d"}},
		{"a removed one is cut off", []string{"-" + wide[1:]}, 2, []string{"-0123456789012345…"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := bodyFit{columns: 20, differs: true, hint: ": d"}.rows(test.body, test.rows)
			for i, row := range rows {
				rows[i] = strings.TrimPrefix(row, "  ")
			}
			require.Equal(t, test.want, rows)
		})
	}
}

var hiddenCount = regexp.MustCompile(`(\d+) added lines? hidden: d`)

// Whatever an edit adds stands on the screen before the answer, or is counted.
func TestAnAddedLineIsShownOrCounted(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.StringMatching(`[a-z ]{0,20}`), rapid.StringMatching(`[a-z]{70,300}`), rapid.StringMatching(`\t{0,3} {0,4}`))
		var before, after strings.Builder
		added := 0
		for i := range rapid.IntRange(1, 60).Draw(t, "lines") {
			unchanged := fmt.Sprintf("line %d\n", i)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				before.WriteString(unchanged)
				after.WriteString(unchanged)
			case 1:
				before.WriteString(unchanged)
			default:
				added++
				fmt.Fprintf(&after, "<%s %d>\n", line.Draw(t, "added"), i)
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte(before.String()), 0o600))
		q := callQuestion("fs_create_file", "file", string(asJSON(map[string]string{"path": "file", "content": after.String()})))
		p := New(nil, Options{Root: root, Width: 80, Rows: 24})
		s := p.callSheet(q)
		menu := p.layout(p.runMenu(q, s))
		screen := p.brief(s, menu)
		require.LessOrEqual(t, terminal.RowsOf(screen+menu+"> ", 80), 24, screen)
		shown := strings.Count(screen, ">\n")
		if m := hiddenCount.FindStringSubmatch(screen); m != nil {
			hidden, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			shown += hidden
		}
		require.Equal(t, added, shown, screen)
	})
}

func TestAnAddedLineOfBlanksIsMarked(t *testing.T) {
	p := New(nil, Options{Width: 80, Rows: 24})
	s := p.callSheet(callQuestion("fs_create_file", "a", `{"path":"a","content":"x\n\n  \n\t\n"}`))
	require.Equal(t, []string{"+x", "+", "+⟨2 blanks⟩", "+⟨1 blank⟩"}, s.body)
}
