package web

import (
	"bytes"
	"slices"
	"strings"
)

// A gap goes before the next text.
const (
	gapNone = iota
	gapSpace
	gapLine
	gapBlank // an empty line
)

// A sink collects the Markdown of a page, or of one cell of a table.
type sink struct {
	text   []byte
	gap    int
	prefix string   // begins each line
	first  string   // begins the next line in its place, unless it is empty
	last   string   // the prefix of the last line
	marks  []string // come before the next text
}

const spaces = " \t\n\f\r"

// gap asks for space before the next text.
func (p *page) gap(size int) {
	if p.flat > 0 {
		size = min(size, gapSpace)
	}
	p.out.gap = max(p.out.gap, size)
}

// block asks for a line of its own.
func (p *page) block(name string) {
	switch {
	case p.code != nil && p.code.block:
		if n := len(p.code.text); n > 0 && p.code.text[n-1] != '\n' && p.code.text[n-1] != '\t' {
			p.code.text = append(p.code.text, separator(name))
		}
		return
	case p.code != nil:
		p.endCode()
	}
	if isApart(name) {
		p.gap(gapBlank)
	} else {
		p.gap(gapLine)
	}
}

// separator separates blocks in verbatim text.
func separator(name string) byte {
	if name == "td" || name == "th" {
		return '\t'
	}
	return '\n'
}

func (p *page) breakLine() {
	switch {
	case p.code != nil:
		p.code.text = append(p.code.text, '\n')
	case p.out.gap >= gapLine:
		p.gap(gapBlank)
	default:
		p.gap(gapLine)
	}
}

// words writes text, in which all spaces are equal.
func (p *page) words(b []byte) {
	for len(b) > 0 {
		end := bytes.IndexAny(b, spaces)
		switch end {
		case 0:
			p.gap(gapSpace)
			b = b[1:]
			continue
		case -1:
			end = len(b)
		}
		p.write(string(b[:end]))
		b = b[end:]
	}
}

// write writes text behind the gap and the marks that were asked for.
func (p *page) write(text string) {
	s, before := p.out, len(p.out.text)
	switch {
	case len(s.text) == 0:
		s.begin()
	case s.gap == gapBlank:
		s.text = append(s.text, '\n')
		s.text = append(s.text, strings.TrimRight(common(s.last, s.prefix), " ")...)
		s.newLine()
	case s.gap == gapLine:
		s.newLine()
	case s.gap == gapSpace && !bytes.HasSuffix(s.text, []byte(" ")):
		s.text = append(s.text, ' ')
	}
	for _, mark := range s.marks {
		s.text = append(s.text, mark...)
	}
	s.gap, s.marks = gapNone, s.marks[:0]
	s.text = append(s.text, text...)
	p.work += len(s.text) - before
}

func (s *sink) newLine() {
	s.text = append(s.text, '\n')
	s.begin()
}

func (s *sink) begin() {
	if s.first == "" {
		s.first = s.prefix
	}
	s.text = append(s.text, s.first...)
	s.first, s.last = "", s.prefix
}

// common is how two prefixes begin.
func common(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// lines writes text that has line ends, as a block.
func (p *page) lines(text string) {
	p.gap(gapBlank)
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			p.gap(gapBlank)
			continue
		}
		p.write(line)
		p.gap(gapLine)
	}
	p.gap(gapBlank)
}

// closeMark ends a mark. If no text came since its beginning, the mark is dropped.
func (p *page) closeMark(after string) {
	if last := len(p.out.marks) - 1; last >= 0 {
		p.out.marks = p.out.marks[:last]
		return
	}
	p.out.text = append(p.out.text, after...)
	p.work += len(after)
}

// indent begins the block of an element with a mark, and indents its other lines.
func (p *page) indent(e *element, mark string) {
	s := p.out
	if p.flat > 0 || len(s.prefix) >= mostIndent {
		return
	}
	e.indent, e.first = len(mark), s.first
	if s.first == "" {
		s.first = s.prefix
	}
	s.first += mark
	if mark != "> " {
		mark = strings.Repeat(" ", len(mark))
	}
	s.prefix += mark
}

// outdent ends an indent. If no text came since its beginning, the mark is dropped.
func (p *page) outdent(e *element) {
	s := p.out
	s.prefix = s.prefix[:len(s.prefix)-e.indent]
	if e.indent > 0 && s.first != "" {
		s.first = e.first
	}
}

// endCode writes the text of <code> or <pre> as it is.
func (p *page) endCode() {
	c := p.code
	p.code = nil
	if c.block && p.flat == 0 {
		if text := strings.TrimRight(strings.TrimPrefix(string(c.text), "\n"), spaces); text != "" {
			fence := strings.Repeat("`", max(3, longestRun(text)+1))
			p.gap(gapBlank)
			p.verbatim(fence + c.language + "\n" + text + "\n" + fence)
			p.gap(gapBlank)
		}
		return
	}
	text := strings.Join(strings.Fields(string(c.text)), " ")
	if text == "" {
		return
	}
	fence := strings.Repeat("`", longestRun(text)+1)
	if text[0] == '`' || text[len(text)-1] == '`' {
		text = " " + text + " "
	}
	if bytes.ContainsAny(c.text[:1], spaces) {
		p.gap(gapSpace)
	}
	p.write(fence + text + fence)
	if bytes.ContainsAny(c.text[len(c.text)-1:], spaces) {
		p.gap(gapSpace)
	}
}

// verbatim writes lines with all their spaces.
func (p *page) verbatim(text string) {
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			p.write(line)
			continue
		}
		before := len(p.out.text)
		p.out.newLine()
		p.out.text = append(p.out.text, line...)
		p.work += len(p.out.text) - before
	}
}

// longestRun is how many backticks follow each other at most.
func longestRun(text string) int {
	most := 0
	for text != "" {
		i := strings.IndexByte(text, '`')
		if i < 0 {
			break
		}
		text = text[i:]
		rest := strings.TrimLeft(text, "`")
		most = max(most, len(text)-len(rest))
		text = rest
	}
	return most
}

// blankRow reports whether a row of a table is empty.
func blankRow(row []cell) bool {
	return !slices.ContainsFunc(row, func(c cell) bool { return len(c.sink.text) > 0 })
}
