package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"jp/cmd/jp/internal/terminal/highlight"
)

// codeLines adds the lines of the code blocks of a text, without the white space
// around them.
func codeLines(markdown string, lines map[string]bool) {
	d := &document{source: []byte(markdown), memo: &codeMemo{written: true, time: highlight.NewTime()}}
	root := goldmark.New().Parser().Parse(text.NewReader(d.source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for _, line := range d.code(n) {
				lines[strings.TrimLeft(line, " │")] = true
			}
		}
		return ast.WalkContinue, nil
	})
}

func TestDocument(t *testing.T) {
	tests := map[string]struct {
		width    int
		in, want string
	}{
		"heading":              {12, "## A long title", "## A long\n   title"},
		"setext heading":       {40, "Title\n===\n\nNext\n---", "# Title\n\n## Next"},
		"tight list":           {40, "- a\n- b\n  1. c\n  2. d\n", "• a\n• b\n  1. c\n  2. d"},
		"loose list":           {40, "- a\n\n- b\n  - c\n", "• a\n\n• b\n  • c"},
		"paragraphs of items":  {40, "1. a\n\n   b\n2. c\n", "1. a\n\n   b\n\n2. c"},
		"numbers":              {40, "9) a\n10) b\n", " 9) a\n10) b"},
		"wrapped item":         {9, "- one two three\n", "• one two\n  three"},
		"empty item":           {40, "- \n- a\n", "•\n• a"},
		"tasks":                {40, "- [x] a\n- [ ] b\n- c\n", "[x] a\n[ ] b\n• c"},
		"numbered task":        {40, "1. [X] a\n", "1. [x] a"},
		"quote":                {9, "> one two three\n>\n> > deep\n", "│ one two\n│ three\n│\n│ │ deep"},
		"lists in a quote":     {40, "> - a\n>   - b\n", "│ • a\n│   • b"},
		"quote in a list":      {40, "- a\n  > b\n", "• a\n  │ b"},
		"code":                 {5, "```go\na  b\tc and more\n\n\td\n```\n", "  a  b    c and more\n\n      d"},
		"code in a list":       {6, "- a\n\n      b  c d e f\n", "• a\n\n    b  c d e f"},
		"code never re-flowed": {40, "    a **b** &amp;\n    c\n", "  a **b** &amp;\n  c"},
		"rule":                 {40, "***\n", "────────"},
		"html":                 {10, "<div>\n  <p>text that is long</p>\n</div>\n", "<div>\n  <p>text\nthat is\nlong</p>\n</div>"},
		"html's end":           {40, "<!-- a\n\n-->\n", "<!-- a\n\n-->"},
		"definitions":          {40, "[a]: http://b.c 'title'\n[d]: <e f>\n", "[a]: http://b.c \"title\"\n[d]: e f"},
		"too narrow to indent": {6, "- - - - a\n", "• •\n  •\n  •\n  a"},
		"too narrow for bars":  {5, "> a\n", "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want+"\n", printed(t, test.width, Palette{}, test.in))
		})
	}
}

func TestDocumentInColours(t *testing.T) {
	require.Equal(t, "\x1b[1m# \x1b[22m\x1b[1mA \x1b[0m\x1b[1;36mb\x1b[0m\n", printed(t, 40, Coloured(), "# A `b`\n"))
	require.Equal(t, "  \x1b[36ma\x1b[39m\n\n  \x1b[36mb\x1b[39m\n", printed(t, 40, Coloured(), "```\na\n\nb\n```\n"))
}

// A document that cannot be laid out in time is printed as it is.
func TestDocumentIsLaidOutInTime(t *testing.T) {
	repeat := strings.Repeat
	for name, text := range map[string]string{
		"nested":           repeat("> ", 2000) + "x\n" + repeat("y\n", 2000),
		"just not too":     repeat(repeat(">", deepest/2)+"x\n", 200),
		"a wide table":     repeat("|a", 5000) + "\n" + repeat("|-", 5000) + "\n" + repeat("|\n", 5000),
		"one in a list":    "- " + repeat("|a", 5000) + "\n  " + repeat("|-", 5000) + "\n" + repeat("  |\n", 5000),
		"behind a fence":   "- ```\n  ```\n  " + repeat("> ", 15_000),
		"links never done": repeat("[a](", 8_000),
		"emphasis":         repeat("*a **b ", 2000) + repeat("c** d*", 2000),
		"lines":            repeat("a\n", 16_000),
		"one word":         repeat("a", 32_000),
		"much code":        "```\n" + repeat("|-|-|-|\n", 100_000) + "```\n",
	} {
		t.Log(name) // which of them the deadline of the tests ends, if it does
		printed(t, 40, Coloured(), text)
	}
}
