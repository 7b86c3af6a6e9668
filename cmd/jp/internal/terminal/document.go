package terminal

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"jp/internal/safetext"
)

// A document is Markdown that was parsed, to be laid out in lines. Each line is
// complete in itself: its colours end with it. Only code is wider than asked.
type document struct {
	source  []byte
	palette Palette
	memo    *codeMemo
}

// narrowest is how many columns marks and bars leave to the text beside them. Text that is nested
// deeper begins at the margin.
const narrowest = 4

// layout is the lines of a clean text in a number of columns.
func layout(p parser.Parser, markdown string, width int, palette Palette, memo *codeMemo) []string {
	d := &document{source: []byte(markdown), palette: palette, memo: memo}
	return d.blocks(p.Parse(text.NewReader(d.source)), width, false)
}

// blocks is the lines of the blocks in parent, with blank lines between unless it is tight.
func (d *document) blocks(parent ast.Node, width int, tight bool) []string {
	var lines []string
	for child := parent.FirstChild(); child != nil; child = child.NextSibling() {
		more := d.block(child, width)
		switch {
		case len(lines) == 0:
			lines = more
			continue
		case len(more) > 0 && !tight && !joined(child):
			lines = append(lines, "")
		}
		lines = append(lines, more...)
	}
	return lines
}

// joined reports whether no blank line stands before a block: before a list
// right below the text of an item, and between definitions of links.
func joined(block ast.Node) bool {
	switch block.(type) {
	case *ast.List:
		_, nested := block.Parent().(*ast.ListItem)
		return nested && !block.HasBlankPreviousLines()
	case *ast.LinkReferenceDefinition:
		_, defined := block.PreviousSibling().(*ast.LinkReferenceDefinition)
		return defined
	}
	return false
}

func (d *document) block(node ast.Node, width int) []string {
	switch n := node.(type) {
	case *ast.Heading:
		return d.heading(n, width)
	case *ast.Paragraph, *ast.TextBlock:
		return d.wrap(d.inline(n, 0), width)
	case *ast.Blockquote:
		return d.quote(n, width)
	case *ast.List:
		return d.list(n, width)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return d.code(n)
	case *ast.HTMLBlock:
		return d.html(n, width)
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", min(width, 8))}
	case *ast.LinkReferenceDefinition:
		return d.definition(n, width)
	case *extended.Table:
		return d.table(n, width)
	}
	return nil
}

func (d *document) heading(n *ast.Heading, width int) []string {
	mark, spans := strings.Repeat("#", n.Level)+" ", d.inline(n, bold)
	if width-len(mark) < narrowest {
		return d.wrap(append([]span{{mark, bold}}, spans...), width)
	}
	return hang(d.palette.Bold(mark), strings.Repeat(" ", len(mark)), d.wrap(spans, width-len(mark)))
}

func (d *document) quote(n *ast.Blockquote, width int) []string {
	const bar = "│ "
	if width-safetext.Columns(bar) < narrowest {
		return d.blocks(n, width, false)
	}
	return hang(bar, bar, d.blocks(n, width-safetext.Columns(bar), false))
}

func (d *document) list(n *ast.List, width int) []string {
	var lines []string
	last := n.Start + n.ChildCount() - 1
	widest := len(fmt.Sprint(last))
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%*d%c ", widest, number, n.Marker)
		}
		number++
		if len(lines) > 0 && !n.IsTight {
			lines = append(lines, "")
		}
		lines = append(lines, d.item(item, task(item, mark), n.IsTight, width)...)
	}
	return lines
}

func (d *document) item(n ast.Node, mark string, tight bool, width int) []string {
	room := width - safetext.Columns(mark)
	if room < narrowest {
		return append(d.wrap([]span{{text: mark}}, width), d.blocks(n, width, tight)...)
	}
	return hang(mark, strings.Repeat(" ", safetext.Columns(mark)), d.blocks(n, room, tight))
}

// task is the mark of an item that may be a task: its box stands in the place of
// a bullet, and after a number.
func task(item ast.Node, mark string) string {
	if item.FirstChild() == nil {
		return mark
	}
	box, ok := item.FirstChild().FirstChild().(*extended.TaskCheckBox)
	if !ok {
		return mark
	}
	mark = strings.TrimPrefix(mark, "• ")
	if box.IsChecked {
		return mark + "[x] "
	}
	return mark + "[ ] "
}

// code is the lines of a code block, never wrapped.
func (d *document) code(n ast.Node) []string {
	texts := make([]string, n.Lines().Len())
	for i := range texts {
		texts[i] = d.line(n.Lines().At(i))
	}
	language := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(f.Language(d.source))
	}
	lines := d.memo.lines(language, d.palette, texts)
	for i, line := range lines {
		if blank(texts[i]) {
			lines[i] = ""
		} else {
			lines[i] = codeMargin + line
		}
	}
	return lines
}

// html is the lines of an HTML block as they stand, wrapped.
func (d *document) html(n *ast.HTMLBlock, width int) []string {
	var spans []span
	for i := range n.Lines().Len() {
		spans = append(spans, span{d.line(n.Lines().At(i)), verbatim}, lineBreak)
	}
	if n.HasClosure() {
		spans = append(spans, span{d.line(n.ClosureLine), verbatim})
	}
	return d.wrap(spans, width)
}

// line is a line of the source, without its end.
func (d *document) line(segment text.Segment) string {
	line := strings.TrimRight(string(segment.Value(d.source)), "\n")
	return strings.ReplaceAll(line, "\t", "    ")
}

// definition shows the target of a reference. The text that refers to it was printed before.
func (d *document) definition(n *ast.LinkReferenceDefinition, width int) []string {
	title := ""
	if len(n.Title) > 0 {
		title = ` "` + resolve(string(n.Title)) + `"`
	}
	return d.wrap([]span{
		{text: "[" + resolve(string(n.Label)) + "]: "}, {resolve(string(n.Destination)), address}, {text: title},
	}, width)
}

// hang puts a mark before the first line, and rest before the others.
func hang(mark, rest string, lines []string) []string {
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, line := range lines {
		if i > 0 {
			mark = rest
		}
		lines[i] = mark + line
		if line == "" {
			lines[i] = strings.TrimRight(mark, " ")
		}
	}
	return lines
}
