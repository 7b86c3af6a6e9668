package console

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"jp/internal/safetext"
)

// An editor is a text of one or more lines that a person edits. Its zero value is empty.
type editor struct {
	text   string
	at     int    // the cursor, in bytes
	killed string // the text that Ctrl+K, Ctrl+U or Ctrl+W took away last
	pasted []row  // the parts that were pasted
	chips  []row  // the parts that are edited as one character
	goal   int    // the column that the cursor goes back to in longer rows, plus one; 0: none
}

// set replaces the text. The cursor stands at its end.
func (e *editor) set(text string) {
	e.text, e.at, e.goal, e.pasted, e.chips = text, len(text), 0, nil, nil
}

// insert puts a text at the cursor, without the characters that a terminal would take as a command.
func (e *editor) insert(text string) {
	text = typed(text)
	e.text = e.text[:e.at] + text + e.text[e.at:]
	for _, parts := range [][]row{e.pasted, e.chips} {
		for i := range parts {
			if p := &parts[i]; p.start >= e.at {
				p.start, p.end = p.start+len(text), p.end+len(text)
			} else if p.end > e.at {
				p.end += len(text)
			}
		}
	}
	e.at += len(text)
	e.goal = 0
}

// paste inserts a text that the person did not type.
func (e *editor) paste(text string) {
	from := e.at
	e.insert(text)
	e.pasted = append(e.pasted, row{from, e.at})
}

// chip inserts a text that is edited as one character, and a blank behind it.
func (e *editor) chip(text string) {
	from := e.at
	e.paste(text)
	e.chips = append(e.chips, row{from, e.at})
	e.insert(" ")
}

// within is the chip around a place. With start or end a place at that end counts, too.
func (e *editor) within(at int, start, end bool) (row, bool) {
	for _, c := range e.chips {
		if c.start < at && at < c.end || start && at == c.start || end && at == c.end {
			return c, true
		}
	}
	return row{}, false
}

// wasPasted reports whether the character at a place was pasted.
func (e *editor) wasPasted(at int) bool {
	return slices.ContainsFunc(e.pasted, func(p row) bool { return p.start <= at && at < p.end })
}

// typed is a text as it goes into the line: with line breaks of one kind, and without characters that
// are hidden or that a terminal acts on.
func typed(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	c := safetext.NewStripper(&b)
	_, _ = c.Write([]byte(text)) // a builder takes everything
	_ = c.Close()
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, b.String())
}

// remove takes away the text between the cursor and another place.
func (e *editor) remove(to int) {
	from, end := min(e.at, to), max(e.at, to)
	e.text = e.text[:from] + e.text[end:]
	for _, parts := range []*[]row{&e.pasted, &e.chips} {
		for i := range *parts {
			p := &(*parts)[i]
			p.start, p.end = p.start-overlap(p.start, from, end), p.end-overlap(p.end, from, end)
		}
		*parts = slices.DeleteFunc(*parts, func(p row) bool { return p.start == p.end })
	}
	e.at, e.goal = from, 0
}

// overlap is how far a place moves to the left when a part before it, or around it, goes away.
func overlap(at, from, end int) int { return max(0, min(at, end)-from) }

// kill removes the text up to a place, and keeps it for Ctrl+Y.
func (e *editor) kill(to int) {
	if from, end := min(e.at, to), max(e.at, to); from < end {
		e.killed = e.text[from:end]
	}
	e.remove(to)
}

func (e *editor) killAll() {
	e.move(len(e.text))
	e.kill(0)
}

func (e *editor) move(to int) { e.at, e.goal = to, 0 }

// before and after are the places one character from the cursor.
func (e *editor) before() int {
	if e.at == 0 {
		return 0
	}
	if c, is := e.within(e.at, false, true); is {
		return c.start
	}
	start := strings.LastIndexByte(e.text[:e.at-1], '\n') + 1
	if e.text[e.at-1] == '\n' {
		return e.at - 1
	}
	last := start
	for i := start; i < e.at; {
		last = i
		i += len(cluster(e.text[i:]))
	}
	return last
}

func (e *editor) after() int {
	if c, is := e.within(e.at, true, false); is {
		return c.end
	}
	return e.at + len(cluster(e.text[e.at:]))
}

// wordBefore and wordAfter are the places one word from the cursor.
func (e *editor) wordBefore() int {
	left := strings.TrimRightFunc(e.text[:e.at], unicode.IsSpace)
	space := strings.LastIndexFunc(left, unicode.IsSpace)
	if space < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(left[space:])
	if c, is := e.within(space+size, false, false); is {
		return c.start
	}
	return space + size
}

func (e *editor) wordAfter() int {
	rest := strings.TrimLeftFunc(e.text[e.at:], unicode.IsSpace)
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		rest = rest[end:]
	} else {
		rest = ""
	}
	if c, is := e.within(len(e.text)-len(rest), false, false); is {
		return c.end
	}
	return len(e.text) - len(rest)
}

// lineStart and lineEnd are the ends of the cursor's line.
func (e *editor) lineStart() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *editor) lineEnd() int {
	if end := strings.IndexByte(e.text[e.at:], '\n'); end >= 0 {
		return e.at + end
	}
	return len(e.text)
}

// vertical moves the cursor up or down by rows of a width. It reports whether there is such a row.
func (e *editor) vertical(step, width int) bool {
	rows := layout(e.text, width)
	now := rowOf(rows, e.at)
	to := now + step
	if to < 0 || to >= len(rows) {
		return false
	}
	if e.goal == 0 {
		e.goal = columns(e.text[rows[now].start:e.at]) + 1
	}
	e.at = rows[to].start
	for column := 0; e.at < rows[to].end; {
		next := cluster(e.text[e.at:])
		if column += columns(next); column >= e.goal || e.at+len(next) == rows[to].end && to+1 < len(rows) && rows[to+1].start == rows[to].end {
			break
		}
		e.at += len(next)
	}
	if c, is := e.within(e.at, false, false); is {
		e.at = c.start
	}
	return true
}

// A row is a part of a text that is shown in one row.
type row struct{ start, end int }

func rowOf(rows []row, at int) int {
	n := len(rows) - 1
	for n > 0 && rows[n].start > at {
		n--
	}
	return n
}

// layout breaks a text into rows of a width: at its line breaks, and between words if one is longer.
func layout(text string, width int) []row {
	var rows []row
	for start := 0; ; {
		end, last := len(text), true
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end, last = start+n, false
		}
		from, column, space := start, 0, -1
		for i := start; i < end; {
			c := cluster(text[i:end])
			wide := columns(c)
			if column+wide > width && i > from {
				cut := i
				if space > from {
					cut = space
				}
				rows = append(rows, row{from, cut})
				from, column, space = cut, columns(text[cut:i]), -1
			}
			column += wide
			if i += len(c); c == " " {
				space = i
			}
		}
		rows = append(rows, row{from, end})
		if last {
			return rows
		}
		start = end + 1
	}
}

// cluster is the first character of a text as people see it, "" of an empty one.
func cluster(text string) string {
	if len(text) > 0 && text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return text[:1]
	}
	first, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return first
}

const tab = "    "

// columns is how wide a text is shown.
func columns(text string) int {
	if len(text) == 1 && text[0] >= ' ' && text[0] < utf8.RuneSelf-1 {
		return 1
	}
	return safetext.Columns(shown(text))
}

func shown(text string) string { return strings.ReplaceAll(text, "\t", tab) }
