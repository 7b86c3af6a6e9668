package terminal

import (
	"io"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"jp/internal/safetext"
)

// Markdown prints Markdown on a terminal while it is still being written: each
// block once, as soon as the next one begins. How the text was split into writes
// makes no difference to what is printed. Where it is [Markdown.Live], the block
// that is being written is shown, too, as it would be printed if it ended there.
type Markdown struct {
	out     io.Writer
	width   int
	palette Palette
	clean   *safetext.Cleaner
	blocks  blocks
	parser  parser.Parser
	printed bool
	rows    int // of the block that is being written; 0: it is not shown
	live    live
}

// NewMarkdown returns a printer of Markdown for a terminal of a width in
// columns. The text written to it need not be clean.
func NewMarkdown(out io.Writer, width int, palette Palette) *Markdown {
	m := &Markdown{out: out, width: max(width, 1), palette: palette, live: live{out: out}}
	m.parser = goldmark.New(goldmark.WithExtensions(
		extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify,
	)).Parser()
	m.clean = safetext.NewCleaner(&m.blocks)
	return m
}

// Live shows the block that is being written, at most as many rows of it: for a
// terminal with more rows, where lines can be taken back.
func (m *Markdown) Live(rows int) { m.rows = max(rows, 1) }

// Hide takes what is shown of an unfinished block away, until more of it is
// written. It has to be called before anybody else writes to the terminal.
func (m *Markdown) Hide() error { return m.live.hide() }

// Resize changes the width of what is still to be printed.
func (m *Markdown) Resize(width int) { m.width = max(width, 1) }

// Write takes the next part of the text and prints the blocks that it finishes.
func (m *Markdown) Write(p []byte) (int, error) {
	if _, err := m.clean.Write(p); err != nil {
		return 0, err
	}
	if err := m.print(); err != nil {
		return 0, err
	}
	return len(p), m.preview()
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
			if err := m.live.hide(); err != nil {
				return err
			}
			continue
		}
		if m.rows > 0 {
			if err := m.settle(text); err != nil {
				return err
			}
			continue
		}
		if _, err := io.WriteString(m.out, m.below(text)); err != nil {
			return err
		}
		m.printed = true
	}
	return nil
}

// below is a text as it stands below what is printed.
func (m *Markdown) below(text string) string {
	if m.printed {
		return "\n" + text
	}
	return text
}

// settle prints a block in the place of what is shown of it.
func (m *Markdown) settle(text string) error {
	lines := strings.Split(strings.TrimSuffix(m.below(text), "\n"), "\n")
	m.printed = true
	if err := m.live.show(lines); err != nil {
		return err
	}
	return m.live.keep()
}

// mostShown is how long a block may be, in bytes, to be laid out again whenever it
// grows. What is longer is shown when it is whole.
const mostShown = 8 << 10

// preview shows the block that is being written.
func (m *Markdown) preview() error {
	block := m.blocks.unfinished()
	if m.rows == 0 || len(block) > mostShown || unwieldy(block+"\n") {
		return nil
	}
	text := m.render(block + "\n")
	if text == "" { // such as an opening fence, of which one mark looked like text
		return m.live.hide()
	}
	lines := strings.Split(strings.TrimSuffix(m.below(text), "\n"), "\n")
	lines = lines[max(0, len(lines)-m.rows):]
	for i, line := range lines {
		lines[i] = safetext.Fit(strings.ReplaceAll(line, "\t", "        "), m.width) // each takes one row
	}
	return m.live.show(lines)
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
