package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"jp/cmd/jp/internal/terminal/highlight"
	"jp/internal/lazy"
	"jp/internal/safetext"
)

// A Change is one line of a difference, or a line between two of them.
type Change struct {
	Mark   byte // '+', '-' or ' '; 0 between them
	Number int  // of the line, in the file as it is after the change; of a removed one before it; of folded lines minus their count
	Text   string
}

// hunk begins a part of a difference.
var hunk = lazy.Regexp(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// Changes reads a unified difference of one file; nil for another text.
func Changes(text string) (changes []Change) {
	before, after, within := 0, 0, false
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if m := hunk().FindStringSubmatch(line); m != nil {
			before, _ = strconv.Atoi(m[1])
			after, _ = strconv.Atoi(m[2])
			if within {
				changes = append(changes, Change{Text: "…"})
			}
			within = true
			continue
		}
		if !within {
			if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") {
				return nil
			}
			continue
		}
		mark, rest := byte(' '), ""
		if line != "" {
			mark, rest = line[0], line[1:]
		}
		switch mark {
		case '+':
			changes = append(changes, Change{'+', after, rest})
			after++
		case '-':
			changes = append(changes, Change{'-', before, rest})
			before++
		case ' ':
			changes = append(changes, Change{' ', after, rest})
			before, after = before+1, after+1
		case '\\': // no newline at the end of the file
			changes = append(changes, Change{Text: line})
		}
	}
	return changes
}

// Brief is the changed lines without their context, in at most some rows: first the removed lines of
// each change are folded to two rows, then the last rows are counted.
func Brief(changes []Change, most int) (brief []Change) {
	for _, c := range changes {
		if c.Mark == '+' || c.Mark == '-' {
			brief = append(brief, c)
		}
	}
	if len(brief) > most {
		brief = foldRemoved(brief)
	}
	if n := len(brief) - most; n > 1 { // one row takes no more room than its count
		rest := 0
		for _, c := range brief[most-1:] {
			rest += max(1, -c.Number)
		}
		brief = append(brief[:most-1:most-1], Folded(rest, "more"))
	}
	return brief
}

// foldRemoved keeps the first of each run of removed lines.
func foldRemoved(changes []Change) (brief []Change) {
	for i := 0; i < len(changes); {
		end := i
		for end < len(changes) && changes[end].Mark == '-' {
			end++
		}
		switch n := end - i; {
		case n > 2:
			brief = append(brief, changes[i], Folded(n-1, "lines"))
		case n > 0:
			brief = append(brief, changes[i:end]...)
		default:
			brief = append(brief, changes[i])
			end++
		}
		i = end
	}
	return brief
}

// Folded stands for a number of lines.
func Folded(n int, what string) Change {
	return Change{0, -n, fmt.Sprintf("… %d %s", n, what)}
}

// A Drawing says how changes are drawn.
type Drawing struct {
	Palette Palette
	File    string // the name of the file, whose syntax the lines have
	Margin  int    // columns before each row
	Width   int    // columns of the screen; 0: each line has one row, as long as it is
	Wraps   bool   // an added line has as many rows as it needs; other lines are cut off, as all are without it
}

// Rows are the rows of each change.
func (d Drawing) Rows(changes []Change) (rows [][]string) {
	digits := 0
	for _, c := range changes {
		if c.Number > 0 {
			digits = max(digits, len(strconv.Itoa(c.Number)))
		}
	}
	lead, room := strings.Repeat(" ", d.Margin), 0
	if digits > 0 {
		digits++ // a blank behind the number
	}
	if d.Width > 0 {
		room = max(d.Width-d.Margin-digits, 1)
	}
	lines := d.coloured(changes)
	for i, c := range changes {
		if c.Mark == 0 {
			rows = append(rows, []string{lead + d.Palette.Dim(strings.Repeat(" ", digits)+c.Text)})
			continue
		}
		number := ""
		if digits > 0 {
			number = d.Palette.Dim(fmt.Sprintf("%*d ", digits-1, c.Number))
		}
		own := []string{}
		for _, row := range lines[i].rows(room, d.Wraps && c.Mark == '+') {
			own = append(own, lead+number+row)
			number = strings.Repeat(" ", digits)
		}
		rows = append(rows, own)
	}
	return rows
}

// A colouredLine is the text of a change in parts of one colour.
type colouredLine struct {
	palette     Palette
	mark        byte
	text        string // with its mark
	parts       []highlight.Part
	strong, end int // bytes between which the line has words that changed
}

// coloured are the lines of changes. A palette without grounds shows removed and added lines each in one colour.
func (d Drawing) coloured(changes []Change) (lines []colouredLine) {
	words := changedWords(changes)
	var before, after []string
	for i, c := range changes {
		lines = append(lines, colouredLine{d.Palette, c.Mark, shownLine(c), nil, words[i][0], words[i][1]})
		text := lines[i].text[markBytes:]
		if c.Mark == '-' || c.Mark == ' ' {
			before = append(before, text)
		}
		if c.Mark == '+' || c.Mark == ' ' {
			after = append(after, text)
		}
	}
	if !d.Palette.grounded() {
		return lines
	}
	time := highlight.NewTime()
	old, made := highlight.New(highlight.OfFile(d.File), time).Next(before), highlight.New(highlight.OfFile(d.File), time).Next(after)
	for i, c := range changes {
		lines[i].parts = []highlight.Part{{Text: lines[i].text[:markBytes]}}
		switch c.Mark {
		case '-':
			lines[i].parts = append(lines[i].parts, old[0]...)
		case '+', ' ':
			lines[i].parts = append(lines[i].parts, made[0]...)
		}
		if c.Mark == '-' || c.Mark == ' ' {
			old = old[1:]
		}
		if c.Mark == '+' || c.Mark == ' ' {
			made = made[1:]
		}
	}
	return lines
}

// rows cuts a line to so many columns, or wraps it.
func (l colouredLine) rows(room int, wraps bool) (rows []string) {
	if room <= 0 {
		return []string{l.row(0, len(l.text), 0)}
	}
	if !wraps || safetext.Columns(l.text) <= room {
		cut := safetext.Fit(l.text, room)
		if cut == l.text {
			return []string{l.row(0, len(l.text), room-safetext.Columns(cut))}
		}
		kept := strings.TrimSuffix(cut, "…")
		return []string{l.row(0, len(kept), 0) + l.palette.Changed(l.mark, "…"+l.blanks(room-safetext.Columns(cut)), false)}
	}
	from := 0
	for i, row := range strings.Split(ansi.Hardwrap(l.text[markBytes:], max(room-markBytes, 1), true), "\n") {
		to := markBytes + len(row)
		if i > 0 {
			to = from + len(row)
		}
		rest := room - safetext.Columns(row) - markBytes
		if i > 0 {
			rows = append(rows, l.palette.Changed(l.mark, l.blanks(markBytes), false)+l.row(from, to, rest))
		} else {
			rows = append(rows, l.row(from, to, rest))
		}
		from = to
	}
	return rows
}

// row is the bytes from a place to another, and blanks behind them.
func (l colouredLine) row(from, to, blanks int) string {
	if l.parts == nil {
		return l.palette.Changed(l.mark, l.text[from:to], false)
	}
	ends := [3]int{max(from, min(to, l.strong)), max(from, min(to, l.end)), to} // before the words that changed, of them, and behind them
	var row [3]strings.Builder
	at := 0
	for _, part := range l.parts {
		for i, begin := range [3]int{from, ends[0], ends[1]} {
			if a, e := max(at, begin), min(at+len(part.Text), ends[i]); a < e {
				row[i].WriteString(l.palette.Code(part.Kind, l.text[a:e]))
			}
		}
		at += len(part.Text)
	}
	return l.palette.Changed(l.mark, row[0].String(), false) + l.palette.Changed(l.mark, row[1].String(), true) + l.palette.Changed(l.mark, row[2].String()+l.blanks(blanks), false)
}

// blanks fill the ground of the line.
func (l colouredLine) blanks(n int) string {
	if l.mark == ' ' {
		return ""
	}
	return strings.Repeat(" ", max(n, 0))
}

// markBytes is the length of the mark before a line.
const markBytes = 2

// shownLine is a line with its mark, as a terminal shows it.
func shownLine(c Change) string {
	return string(c.Mark) + " " + strings.ReplaceAll(safetext.Clean(c.Text), "\t", "    ")
}

// changedWords are for each change the bytes of its shown line between which it differs from its pair: a removed line and the
// added one in its place, if as many lines are added as removed.
func changedWords(changes []Change) (words [][2]int) {
	words = make([][2]int, len(changes))
	run := func(from int, mark byte) (end int) {
		for end = from; end < len(changes) && changes[end].Mark == mark; end++ {
		}
		return end
	}
	for i := 0; i < len(changes); {
		added := run(i, '-')
		end := run(added, '+')
		for k := 0; added-i == end-added && k < added-i; k++ {
			words[i+k], words[added+k] = between(shownLine(changes[i+k]), shownLine(changes[added+k]))
		}
		i = max(end, i+1)
	}
	return words
}

// between are the places between which two lines differ behind their marks, at the ends of words. Lines with too little in
// common differ nowhere in particular.
func between(removed, added string) (was, is [2]int) {
	same := func(a, b string) (n int) {
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		return n
	}
	head := markBytes + same(removed[markBytes:], added[markBytes:])
	for head > markBytes && (wordAt(removed, head-1) && (wordAt(removed, head) || wordAt(added, head)) || !utf8.RuneStart(at(removed, head)) || !utf8.RuneStart(at(added, head))) {
		head--
	}
	tail := 0
	for tail < min(len(removed), len(added))-head && removed[len(removed)-1-tail] == added[len(added)-1-tail] {
		tail++
	}
	for tail > 0 && (wordAt(removed, len(removed)-tail) && (wordAt(removed, len(removed)-tail-1) || wordAt(added, len(added)-tail-1)) || !utf8.RuneStart(removed[len(removed)-tail])) {
		tail--
	}
	if common := len(strings.TrimSpace(removed[markBytes:head])) + len(strings.TrimSpace(removed[len(removed)-tail:])); 3*common < min(len(removed), len(added))-markBytes {
		return was, is
	}
	return [2]int{head, len(removed) - tail}, [2]int{head, len(added) - tail}
}

// wordAt reports whether a byte is a letter, a digit or a part of a longer character.
func wordAt(line string, i int) bool {
	c := at(line, i)
	return c >= utf8.RuneSelf || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func at(line string, i int) byte {
	if i < 0 || i >= len(line) {
		return 0
	}
	return line[i]
}
