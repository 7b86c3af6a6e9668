package terminal

import (
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal/highlight"
)

// codeMargin stands before each line of code.
const codeMargin = "  "

type codePainter struct {
	palette Palette
	time    *highlight.Time
	code    *highlight.Code
	guess   bool // the block does not name its language, and no line has come
}

// newPainter colours code of a language, "" if the block names none.
func newPainter(language string, p Palette, t *highlight.Time) *codePainter {
	c := &codePainter{palette: p, time: t, guess: language == "" && p.On(), code: highlight.New(nil, t)}
	if p.On() {
		c.code = highlight.New(highlight.Of(language), t)
	}
	return c
}

// lines colours whole lines.
func (c *codePainter) lines(texts []string) []string {
	if len(texts) > 0 && c.guess {
		c.guess, c.code = false, highlight.New(highlight.Guess(texts[0]), c.time)
	}
	shown := make([]string, len(texts))
	if !c.code.Known() {
		for i, text := range texts {
			shown[i] = c.palette.Cyan(text)
		}
		return shown
	}
	for i, parts := range c.code.Next(texts) {
		shown[i] = c.paint(parts)
	}
	return shown
}

// unfinished colours a line that is being written.
func (c *codePainter) unfinished(text string) string {
	if !c.code.Known() {
		return c.palette.Cyan(text)
	}
	return c.paint(c.code.Peek(text))
}

func (c *codePainter) paint(parts []highlight.Part) string {
	var b strings.Builder
	for _, part := range parts {
		paint := map[highlight.Kind]func(string) string{
			highlight.Keyword: c.palette.Magenta, highlight.String: c.palette.Green, highlight.Number: c.palette.Yellow,
			highlight.Comment: c.palette.Dim, highlight.Name: c.palette.Cyan, highlight.Added: c.palette.Green,
			highlight.Removed: c.palette.Red, highlight.Heading: c.palette.Bold,
		}[part.Kind]
		if paint == nil || strings.Trim(part.Text, " ") == "" {
			b.WriteString(part.Text)
		} else {
			b.WriteString(paint(part.Text))
		}
	}
	return b.String()
}

// A codeBlock is a code block that is printed line by line.
type codeBlock struct {
	*fenced
	painter *codePainter
	begun   bool // a line of it is printed
	blanks  int  // blank lines since
}

func newCode(f *fenced, p Palette, t *highlight.Time) *codeBlock {
	return &codeBlock{fenced: f, painter: newPainter(f.language, p, t)}
}

// lines lays out the next lines. Blank ones wait for another line.
func (c *codeBlock) lines(texts []string) (shown []string) {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = c.indented(texts[i])
	}
	if !c.begun {
		for len(texts) > 0 && blank(texts[0]) {
			texts = texts[1:]
		}
	}
	for i, line := range c.painter.lines(texts) {
		if blank(texts[i]) {
			c.blanks++
			continue
		}
		if c.begun {
			shown = append(shown, make([]string, c.blanks)...)
		}
		shown, c.begun, c.blanks = append(shown, codeMargin+line), true, 0
	}
	return shown
}

// unfinished lays out a line that is being written.
func (c *codeBlock) unfinished(text string) []string {
	line := c.indented(text)
	if blank(line) {
		return nil
	}
	blanks := 0
	if c.begun {
		blanks = c.blanks
	}
	return append(make([]string, blanks), codeMargin+c.painter.unfinished(line))
}

func blank(line string) bool { return strings.Trim(line, " ") == "" }

// indented is a line without the indent of the whole block.
func (c *codeBlock) indented(line string) string {
	for column := 0; column < c.indent && line != "" && (line[0] == ' ' || line[0] == '\t'); {
		next := column + 1
		if line[0] == '\t' {
			next = (column/4 + 1) * 4
		}
		line, column = strings.Repeat(" ", max(next-c.indent, 0))+line[1:], next
	}
	return strings.ReplaceAll(line, "\t", "    ")
}

// A codeMemo keeps how the code of a block is coloured. The block is laid out again and again
// while it is being written, and each line is looked at once.
type codeMemo struct {
	codes   []*memoCode // in their order
	next    int
	written bool // the block is whole
	time    *highlight.Time
}

// A memoCode is the whole lines of code, and how they are shown.
type memoCode struct {
	language    string
	painter     *codePainter
	text, shown []string
}

// begin is called before the block is laid out.
func (m *codeMemo) begin(written bool) { m.next, m.written = 0, written }

// lines colours the lines of the next code in the block.
func (m *codeMemo) lines(language string, p Palette, texts []string) []string {
	if m.next == len(m.codes) {
		m.codes = append(m.codes, nil)
	}
	c := m.codes[m.next]
	whole := texts
	if !m.written && len(texts) > 0 {
		whole = texts[:len(texts)-1]
	}
	if c == nil || c.language != language || len(c.text) > len(whole) || !slices.Equal(c.text, whole[:len(c.text)]) {
		c = &memoCode{language: language, painter: newPainter(language, p, m.time)}
		m.codes[m.next] = c
	}
	m.next++
	if more := whole[len(c.text):]; len(more) > 0 {
		c.shown = append(c.shown, c.painter.lines(more)...)
		c.text = append(c.text, more...)
	}
	shown := slices.Clone(c.shown)
	for _, text := range texts[len(whole):] {
		shown = append(shown, c.painter.unfinished(text))
	}
	return shown
}
