package terminal

import (
	"io"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// Markdown prints Markdown on a terminal while it is still being written: each
// block once, as soon as the next one begins. How the text was split into writes
// makes no difference to what is printed.
type Markdown struct {
	out     io.Writer
	width   int
	palette Palette
	clean   *Cleaner
	blocks  blocks
	parser  parser.Parser
	printed bool
}

// NewMarkdown returns a printer of Markdown for a terminal of a width in
// columns. The text written to it need not be clean.
func NewMarkdown(out io.Writer, width int, palette Palette) *Markdown {
	m := &Markdown{out: out, width: max(width, 1), palette: palette}
	m.parser = goldmark.New(goldmark.WithExtensions(
		extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify,
	)).Parser()
	m.clean = NewCleaner(&m.blocks)
	return m
}

// Resize changes the width of what is still to be printed.
func (m *Markdown) Resize(width int) { m.width = max(width, 1) }

// Write takes the next part of the text and prints the blocks that it finishes.
func (m *Markdown) Write(p []byte) (int, error) {
	if _, err := m.clean.Write(p); err != nil {
		return 0, err
	}
	return len(p), m.print()
}

// Close prints what is left, finished or not. It does not close the writer
// below.
func (m *Markdown) Close() error {
	if err := m.clean.Close(); err != nil {
		return err
	}
	m.blocks.end()
	return m.print()
}

func (m *Markdown) print() error {
	for _, block := range m.blocks.take() {
		text := m.render(block)
		if text == "" {
			continue
		}
		if m.printed {
			text = "\n" + text
		}
		m.printed = true
		if _, err := io.WriteString(m.out, text); err != nil {
			return err
		}
	}
	return nil
}

// render lays a block out, without blank lines around it.
func (m *Markdown) render(block string) string {
	if unwieldy(block) {
		return block
	}
	lines := layout(m.parser, block, m.width, m.palette)
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// What is deeper or larger is printed as it stands: the time that parsing takes
// grows with the square, and the text is anyone's.
const (
	deepest = 100      // quotes and lists within each other
	largest = 32 << 10 // bytes of a block that is not all code
	fullest = 50_000   // cells of a table
)

// unwieldy reports whether a block would take too long to be laid out.
func unwieldy(block string) bool {
	first := strings.TrimLeft(block[:strings.IndexByte(block, '\n')], " ")
	if fence := openingFence(first, false); fence != "" && strings.HasPrefix(first, fence) {
		return false // it ends with the block
	}
	return len(block) > largest || cells(block) > fullest || nesting(block) > deepest
}
