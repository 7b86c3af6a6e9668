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

// changesOf are changes by their marks and texts. A line of … stands between two.
func changesOf(lines []string) (changes []terminal.Change) {
	for i, line := range lines {
		if line == "…" {
			changes = append(changes, terminal.Change{Text: line})
		} else {
			changes = append(changes, terminal.Change{Mark: line[0], Number: i + 1, Text: line[1:]})
		}
	}
	return changes
}

func TestAFitFoldsBeforeItHides(t *testing.T) {
	difference := []string{" a", " b", "-c", "-d", "+e", "+f", " g", " h", " i", "…", "+j"}
	wide := "+" + strings.Repeat("0123456789", 3)
	for _, test := range []struct {
		name string
		body []string
		rows int
		want string
	}{
		{"all", difference, 11, " 1   a| 2   b| 3 - c| 4 - d| 5 + e| 6 + f| 7   g| 8   h| 9   i|   …|11 + j"},
		{"unchanged lines first", difference, 8, "   … 2 unchanged| 3 - c| 4 - d| 5 + e| 6 + f|   …|11 + j"},
		{"then removed ones", difference, 6, "   … 2 removed| 5 + e| 6 + f|   …|11 + j"},
		{"a gap has one row with the lines around it", []string{"+a", " b", " c", "…", " d", " e", "+f"}, 3, "1 + a|  …|7 + f"},
		{"removed ones with them", []string{"+a", " b", " c", "…", " d", "-e", "+f", "…", "-g", "+h"}, 5, " 1 + a|   … 1 removed| 7 + f|   … 1 removed|10 + h"},
		{"added ones are counted", difference, 4, "  … 2 removed|5 + e|6 + f|1 added line hidden: d"},
		{"removed ones are counted where none is added", []string{"…", "-a", "…", "-b", "…", "-c"}, 3, "  …|2 - a|2 removed lines hidden: d"},
		{"a line wider than the screen", []string{wide}, 3, "1 + 01234567890123|    45678901234567|    89"},
		{"of which a part is hidden", []string{"+a", wide + wide[1:], "+b"}, 4, "1 + a|2 + 01234567890123|    45678901234567|2 added lines hidden: d"},
		{"a removed one is cut off", []string{"-" + wide[1:]}, 2, "1 - 0123456789012…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := bodyFit{drawing: terminal.Drawing{Margin: 2, Width: 20, Wraps: true}, hint: ": d"}.difference(changesOf(test.body), test.rows)
			for i, row := range rows {
				rows[i] = strings.TrimRight(strings.TrimPrefix(row, "  "), " ")
			}
			require.Equal(t, test.want, strings.Join(rows, "|"))
		})
	}
}

func TestATextIsShownOrCounted(t *testing.T) {
	for _, test := range []struct {
		lines []string
		rows  int
		want  string
	}{
		{[]string{"a", "", "b"}, 3, "a||b"},
		{[]string{"a", "", "b"}, 2, "a|2 lines hidden: d"},
		{[]string{"0123456789"}, 2, "01234567|89"},
		{[]string{"0123456789012345678"}, 2, "01234567|1 line hidden: d"},
	} {
		rows := bodyFit{drawing: terminal.Drawing{Margin: 2, Width: 10}, hint: ": d"}.text(test.lines, test.rows)
		require.Equal(t, test.want, strings.ReplaceAll(strings.Join(rows, "|"), "  ", ""), test.lines)
	}
}

var hiddenCount = regexp.MustCompile(`(\d+) added lines? hidden: d`)

// All lines that an edit adds stand on the screen before the answer, or are counted.
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
	require.Equal(t, []terminal.Change{{Mark: '+', Number: 1, Text: "x"}, {Mark: '+', Number: 2}, {Mark: '+', Number: 3, Text: "⟨2 blanks⟩"}, {Mark: '+', Number: 4, Text: "⟨1 blank⟩"}}, s.changes)
}
