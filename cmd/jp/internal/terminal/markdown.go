package terminal

import (
	"errors"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"jp/cmd/jp/internal/terminal/highlight"
	"jp/internal/safetext"
)

// Markdown prints Markdown on a terminal while it is still being written: each block once, as soon as
// the next one begins. The output is the same for any split of the text into writes. If it is
// [Markdown.Live], the block that is being written is shown, too, as it would be printed if it ended
// there.
type Markdown struct {
	out     io.Writer
	width   int    // without the indent
	indent  string // before each line
	palette Palette
	clean   *safetext.Cleaner
	blocks  blocks
	parser  parser.Parser
	printed bool
	rows    int  // of the block that is being written; 0: it is not shown
	reflows bool // the terminal breaks lines again when it gets narrower
	live    live
	region  Region     // in the place of live; nil: none
	code    *codeBlock // the code block that is being printed line by line
	memo    codeMemo   // of the block that is being written
	time    *highlight.Time
}

// NewMarkdown returns a printer of Markdown for a terminal of a width in
// columns. The text written to it need not be clean.
func NewMarkdown(out io.Writer, width int, palette Palette) *Markdown {
	m := &Markdown{out: out, width: max(width, 1), palette: palette, live: live{out: out}}
	m.Within(highlight.NewTime())
	m.parser = goldmark.New(goldmark.WithExtensions(
		extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify,
	)).Parser()
	m.clean = safetext.NewCleaner(&m.blocks)
	return m
}

// Live shows the block that is being written, at most as many rows of it: for a terminal with more
// rows that can take lines back. Code is printed line by line.
func (m *Markdown) Live(rows int) { m.rows, m.blocks.streams = max(rows, 1), true }

// Indent puts blanks before each line.
func (m *Markdown) Indent(columns int) {
	m.indent = strings.Repeat(" ", columns)
	m.width = max(m.width-columns, 1)
}

// indented is lines behind the indent.
func (m *Markdown) indented(lines []string) []string {
	for i, line := range lines {
		if line != "" {
			lines[i] = m.indent + line
		}
	}
	return lines
}

// Reflow is for a terminal that breaks its lines again when it gets narrower, as most do.
func (m *Markdown) Reflow() { m.reflows = true }

// In shows the block that is being written in a region. The text goes there too.
func (m *Markdown) In(r Region) { m.region = r }

// Within limits how long highlighting takes, together with that of other texts.
func (m *Markdown) Within(t *highlight.Time) { m.time, m.memo.time = t, t }

// Hide takes the shown part of an unfinished block away, until more of it is written. Call it before
// other code writes to the terminal.
func (m *Markdown) Hide() error { return m.shown().Hide() }

// Leave keeps the shown part of an unfinished block at its place for good. When more of it is written,
// all of it is shown again below the output that came meanwhile. A region shows it above that output,
// and continues it.
func (m *Markdown) Leave() error {
	if m.region != nil {
		return nil
	}
	return m.live.Keep()
}

// shown is the region of the block that is being written.
func (m *Markdown) shown() Region {
	if m.region != nil {
		return m.region
	}
	return &m.live
}

// Resize takes the size of the terminal.
func (m *Markdown) Resize(width, rows int) {
	m.width = max(width-len(m.indent), 1)
	if m.rows > 0 {
		m.rows = max(rows-1, 1)
	}
	if m.reflows {
		m.live.width = width
	}
	m.live.settle(rows)
}

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

// Close prints the rest, finished or not. It does not close the writer below.
func (m *Markdown) Close() error {
	if err := m.clean.Close(); err != nil {
		return err
	}
	m.blocks.end()
	return m.print()
}

// print prints the finished blocks.
func (m *Markdown) print() error {
	pieces := m.blocks.take()
	for len(pieces) > 0 {
		n := 1
		var err error
		if pieces[0].code == nil {
			err = m.printBlock(pieces[0])
		} else {
			for n < len(pieces) && pieces[n].code == pieces[0].code {
				n++
			}
			err = m.printCode(pieces[:n])
		}
		if err != nil {
			return err
		}
		pieces = pieces[n:]
	}
	return nil
}

func (m *Markdown) printBlock(p finishedBlock) error {
	text := m.render(p.text, true)
	m.memo = codeMemo{time: m.time}
	if text == "" {
		return m.drop()
	}
	if m.rows > 0 {
		return m.printFinal(m.below(text, p.joined))
	}
	lines := strings.Split(m.below(text, p.joined), "\n")
	_, err := io.WriteString(m.out, strings.Join(m.indented(lines), "\n"))
	m.printed = true
	return err
}

// printCode prints lines of a code block. Blank ones at its beginning and its end are left out.
func (m *Markdown) printCode(lines []finishedBlock) error {
	if m.code == nil || m.code.fenced != lines[0].code {
		m.code = newCode(lines[0].code, m.palette, m.time)
	}
	var texts []string
	for _, p := range lines {
		if !p.end {
			texts = append(texts, p.text)
		}
	}
	begun := m.code.begun
	if shown := m.code.lines(texts); len(shown) > 0 {
		if err := m.printFinal(m.below(strings.Join(shown, "\n"), begun)); err != nil {
			return err
		}
	}
	if !lines[len(lines)-1].end {
		return nil
	}
	m.code = nil
	return m.drop()
}

// drop takes a block off the screen that turned out empty.
func (m *Markdown) drop() error {
	return errors.Join(m.shown().Hide(), m.shown().Keep())
}

// below is a text as it is printed below the previous output, joined to it or not.
func (m *Markdown) below(text string, joined bool) string {
	if m.printed && !joined {
		return "\n" + text
	}
	return text
}

// printFinal prints a text in the place of its shown part.
func (m *Markdown) printFinal(text string) error {
	m.printed, m.live.most = true, 0
	if err := m.shown().Show(m.indented(strings.Split(strings.TrimSuffix(text, "\n"), "\n")), true); err != nil {
		return err
	}
	return m.shown().Keep()
}

// fewRows is how many of the last rows of a block may still change, unless it is a table.
const fewRows = 8

// preview shows the block that is being written, or the line of a code block.
func (m *Markdown) preview() error {
	block, joined := m.blocks.unfinished(), m.blocks.joined
	if m.rows == 0 || m.blocks.code == nil && unwieldy(block+"\n") {
		return nil
	}
	var text string
	if f := m.blocks.code; f == nil {
		text = m.render(block+"\n", false)
	} else {
		if m.code == nil || m.code.fenced != f {
			m.code = newCode(f, m.palette, m.time)
		}
		if strings.Trim(block, m.blocks.fence[:1]+" \t") != "" { // else it may be the end of the block
			if most := 16 * m.width; len(block) > most { // only its end is shown
				block = "…" + strings.ToValidUTF8(block[len(block)-most:], "")
			}
			text = strings.Join(m.code.unfinished(block), "\n")
		}
		joined = m.code.begun
	}
	if text == "" { // such as an opening fence, of which one mark looked like text
		return m.shown().Hide()
	}
	lines := strings.Split(strings.TrimSuffix(m.below(text, joined), "\n"), "\n")
	m.live.most = m.rows
	grow := m.rows >= fewRows && !ruleLine().MatchString(block)
	for i, line := range lines {
		line = strings.ReplaceAll(line, "\t", "        ")
		lines[i] = m.oneRow(line)
		grow = grow && safetext.Columns(line) <= m.width // else it stays as a part
	}
	return m.shown().Show(m.indented(lines), grow)
}

// oneRow is as much of a line as one row shows: of code, which is not wrapped, the end.
func (m *Markdown) oneRow(line string) string {
	if m.blocks.code != nil && safetext.Columns(line) > m.width {
		gone := safetext.Columns(line) - m.width + 1
		shown := ansi.TruncateLeft(line, gone, "…")
		if safetext.Columns(shown) > m.width { // half of a wide character is not gone
			shown = ansi.TruncateLeft(line, gone+1, "…")
		}
		return shown
	}
	return safetext.Fit(line, m.width)
}

// render lays out a block that is written whole or not, without blank lines around it.
func (m *Markdown) render(block string, written bool) string {
	if unwieldy(block) {
		return block
	}
	m.memo.begin(written)
	lines := layout(m.parser, block, m.width, m.palette, &m.memo)
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// A block that is deeper or larger is printed as it is: the time that parsing takes grows with the
// square, and anyone may have written the text.
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
