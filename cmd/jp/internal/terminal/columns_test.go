package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkdownTable(t *testing.T) {
	const markdown = "| Name | N | What |\n|:--|--:|:-:|\n| one | 1 | the first |\n| 漢字 | 20 | `a\\|b` |\n| short |\n"
	for _, test := range []struct {
		width int
		want  string
	}{
		{40, "" +
			"Name  │  N │   What\n" +
			"──────┼────┼──────────\n" +
			"one   │  1 │ the first\n" +
			"漢字  │ 20 │   `a|b`\n" +
			"short │    │\n"},
		{20, "" +
			"Name  │  N │  What\n" +
			"──────┼────┼────────\n" +
			"one   │  1 │   the\n" +
			"      │    │  first\n" +
			"漢字  │ 20 │  `a|b`\n" +
			"short │    │\n"},
		{12, "" +
			"Name: one\nN: 1\nWhat: the\nfirst\n\n" +
			"Name: 漢字\nN: 20\nWhat: `a|b`\n\n" +
			"Name: short\n"},
	} {
		require.Equal(t, test.want, printed(t, test.width, Palette{}, markdown), "%d columns", test.width)
	}
	require.Equal(t, "\x1b[1ma\x1b[0m │ \x1b[1mb\x1b[0m\n──┼──\n", printed(t, 40, Coloured(), "|a|b|\n|-|-|\n"))
	require.Equal(t, "a\nb\n", printed(t, 4, Palette{}, "|a|b|\n|-|-|\n"), "titles alone")
}

func TestFitted(t *testing.T) {
	row := func(texts ...string) []cell {
		var cells []cell
		for _, text := range texts {
			cells = append(cells, cell{{text: text}})
		}
		return cells
	}
	rows := [][]cell{row("a", "bb bb bb bb", "cccccccccc cccccccccc")}
	require.Equal(t, []int{1, 11, 21}, fitted(rows, 33), "as they are")
	require.Equal(t, []int{1, 11, 12}, fitted(rows, 24), "the widest is cut")
	require.Equal(t, []int{1, 9, 10}, fitted(rows, 20), "words are whole")
	require.Equal(t, []int{1, 2, 6}, fitted(rows, 9), "words are broken")
	require.Nil(t, fitted(rows, 8), "no room")
}
