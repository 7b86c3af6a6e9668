package safetext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	// reach is how many rows a cursor can go up, and a page has: those of a tall terminal.
	reach = 100
	// maxColumns is how long a line may be in which the cursor goes back.
	maxColumns = 1024
	// maxSequence is how long the string of a sequence may be, in bytes.
	maxSequence = 4 << 10
)

// Shown is the output of a program as a terminal shows it last: carriage returns, backspaces
// and movements of the cursor are obeyed, and colours, titles and other control characters go.
// Only \n and \t are left of these. It is never longer than the output, and output without
// control characters stays as it is. A gap that the cursor jumped over becomes one blank.
//
// A cleared screen begins a page below the present text, and the next one replaces it. A
// program that leaves the alternate screen takes its text with it.
func Shown(output string) string {
	if !controlled(output) {
		return output
	}
	output = strings.ToValidUTF8(output, "?")
	s := screen{lines: []row{{made: true}}, page: -1}
	s.out.Grow(len(output))
	for i := 0; i < len(output); {
		switch c := output[i]; {
		case c == 0x1b:
			i += s.sequence(output[i:])
			continue
		case c == '\t':
			s.tab()
		case c >= ' ' && c < 0x7f:
			end := i + 1
			for end < len(output) && output[end] >= ' ' && output[end] < 0x7f {
				end++
			}
			s.letters(output[i:end])
			i = end
			continue
		case c < 0x80:
			s.control(c)
		default:
			cluster, width := ansi.FirstGraphemeCluster(output[i:], ansi.GraphemeWidth)
			r, size := utf8.DecodeRuneInString(output[i:])
			if controlled(cluster) {
				cluster, width = output[i:i+size], 1
			}
			if size == 2 && r < 0xa0 {
				s.control(byte(r)) // one of eight bits
			} else {
				s.put(cluster, width)
			}
			i += len(cluster)
			continue
		}
		i++
	}
	s.flush(len(s.lines))
	return s.out.String()
}

func controlled(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 && i+1 < len(text) && text[i+1] >= 0x80 && text[i+1] < 0xa0 {
			return true
		}
	}
	return false
}

// A screen has the newest rows of the output, which a cursor can reach.
type screen struct {
	out      strings.Builder // the rows above
	begun    bool            // out has a row
	lines    []row
	row, col int
	page     int // its first row; negative without a page
	above    int // rows in out, for the saved one
	saved    [2]int
}

// A row is one line. It is text alone until the cursor goes back in it.
type row struct {
	made  bool // something was written to it, or a line ended there
	moved bool // it has cells
	text  []byte
	wide  int // columns of the text
	cells []string
}

// Cells besides characters.
const (
	blank = ""     // an unwritten cell
	half  = "\x00" // the character before it is this wide
)

// letters writes characters of ASCII.
func (s *screen) letters(text string) {
	if r := &s.lines[s.row]; !r.moved && s.col == r.wide {
		r.made, r.text, r.wide = true, append(r.text, text...), r.wide+len(text)
		s.col = r.wide
		return
	}
	for i := range len(text) {
		s.put(text[i:i+1], 1)
	}
}

// put writes a character.
func (s *screen) put(text string, width int) {
	r := &s.lines[s.row]
	r.made = true
	if !r.moved && s.col == r.wide {
		r.text, r.wide = append(r.text, text...), r.wide+width
		s.col = r.wide
		return
	}
	if r = s.cellsUpTo(s.col + width); r == nil {
		s.newline()
		s.put(text, width)
		return
	}
	if width == 0 {
		if at := s.col - 1; at >= 0 && len(r.cells[at])+len(text) < 64 && r.cells[at] != blank && r.cells[at] != half {
			r.cells[at] += text
		}
		return
	}
	s.wipe(r, s.col, s.col+width)
	r.cells[s.col] = text
	for i := s.col + 1; i < s.col+width; i++ {
		r.cells[i] = half
	}
	s.col += width
}

// tab goes to the next stop. Behind the end of a line it is a character.
func (s *screen) tab() {
	width := 8 - s.col%8
	if r := &s.lines[s.row]; r.moved && s.col < len(r.cells) || !r.moved && s.col < r.wide {
		s.col += width
		return
	}
	s.put("\t", width)
}

// cellsUpTo makes cells of the cursor's row, at least so many. It is nil if that would be too
// many.
func (s *screen) cellsUpTo(columns int) *row {
	r := &s.lines[s.row]
	if columns > maxColumns || !r.moved && r.wide > maxColumns {
		return nil
	}
	if !r.moved {
		text := string(r.text)
		*r = row{made: r.made, moved: true}
		for len(text) > 0 {
			cluster, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			if cluster == "\t" {
				width = 8 - len(r.cells)%8
			}
			text = text[len(cluster):]
			if width == 0 {
				if n := len(r.cells); n > 0 && r.cells[n-1] != half {
					r.cells[n-1] += cluster
				}
				continue
			}
			r.cells = append(r.cells, cluster)
			for range width - 1 {
				r.cells = append(r.cells, half)
			}
		}
	}
	for len(r.cells) < columns {
		r.cells = append(r.cells, blank)
	}
	return r
}

// wipe makes cells blank, and with them the other part of a wide character.
func (s *screen) wipe(r *row, from, to int) {
	from, to = min(from, len(r.cells)), min(to, len(r.cells))
	for from > 0 && from < len(r.cells) && r.cells[from] == half {
		from--
	}
	for to < len(r.cells) && r.cells[to] == half {
		to++
	}
	clear(r.cells[from:max(from, to)])
}

func (s *screen) newline() {
	s.row, s.col = s.row+1, 0
	if s.row == len(s.lines) {
		s.lines = append(s.lines, row{})
	}
	s.lines[s.row].made = true
	if len(s.lines) > 3*reach {
		s.flush(len(s.lines) - reach)
	}
}

// flush takes rows from the top that the cursor can no longer reach.
func (s *screen) flush(rows int) {
	rows = min(rows, max(s.row, len(s.lines)-1)+1)
	for i := range s.lines[:rows] {
		r := &s.lines[i]
		if !r.made {
			continue
		}
		if s.begun {
			s.out.WriteByte('\n')
		}
		s.begun = true
		r.write(&s.out)
	}
	s.lines = append(s.lines[:0], s.lines[rows:]...)
	s.row, s.above = s.row-rows, s.above+rows
	if s.page >= 0 {
		s.page = max(s.page-rows, 0)
	}
}

func (r *row) write(out *strings.Builder) {
	if !r.moved {
		out.Write(r.text)
		return
	}
	last := len(r.cells)
	for last > 0 && (r.cells[last-1] == blank || r.cells[last-1] == half || strings.Trim(r.cells[last-1], " \t") == "") {
		if r.cells[last-1] == half && strings.Trim(r.cells[start(r.cells, last-1)], " \t") != "" {
			break
		}
		last--
	}
	gap := false
	for _, c := range r.cells[:last] {
		switch {
		case c == half:
			continue
		case c != blank && gap:
			out.WriteByte(' ')
		}
		out.WriteString(c)
		gap = c == blank
	}
}

// start is the cell of the character that a half belongs to.
func start(cells []string, at int) int {
	for at > 0 && cells[at] == half {
		at--
	}
	return at
}

// control obeys a control character, of seven or eight bits.
func (s *screen) control(c byte) {
	switch c {
	case '\r':
		s.col = 0
	case '\b':
		s.col = max(s.col-1, 0)
	case '\n', '\v', '\f', 0x85:
		s.newline()
	}
}

// sequence obeys the escape sequence at the beginning of a text, and returns its length.
func (s *screen) sequence(text string) int {
	if len(text) > 1 && strings.IndexByte("]PX^_", text[1]) >= 0 {
		for i := 2; i < min(len(text), maxSequence); i++ {
			switch {
			case text[i] == '\a' && text[1] == ']':
				return i + 1
			case strings.HasPrefix(text[i:], "\x1b\\"):
				return i + 2
			case text[i] == 0x1b || text[i] == '\n' || text[i] == 0x18 || text[i] == 0x1a:
				return i
			}
		}
		return min(len(text), maxSequence)
	}
	whole, _, n, _ := ansi.DecodeSequence(text[:min(len(text), maxSequence)], ansi.NormalState, nil)
	switch {
	case len(whole) == 2:
		s.escape(whole[1])
	case len(whole) > 2 && whole[1] == '[' && whole[n-1] >= '@':
		s.move(whole[n-1], strings.Split(whole[2:n-1], ";"))
	}
	return max(n, 1)
}

func (s *screen) escape(final byte) {
	switch final {
	case 'D', 'E':
		s.newline()
	case 'M':
		s.up(1)
	case '7':
		s.saved = [2]int{s.above + s.row, s.col}
	case '8':
		s.restore()
	}
}

func (s *screen) restore() {
	s.row, s.col = min(max(s.saved[0]-s.above, s.top()), len(s.lines)-1), s.saved[1]
}

// move obeys a control sequence.
func (s *screen) move(final byte, parameters []string) {
	switch mode := strings.Join(parameters, ";"); {
	case mode == "?1049" || mode == "?1047" || mode == "?47":
		s.alternate(final == 'h')
		return
	case strings.Trim(mode, "0123456789;") != "":
		return
	}
	number := func(i int) int {
		if i >= len(parameters) {
			return 0
		}
		n, err := strconv.Atoi(parameters[i])
		if err != nil && parameters[i] != "" {
			n = maxColumns
		}
		return min(n, maxColumns)
	}
	n := max(number(0), 1)
	switch final {
	case 'A', 'F':
		s.up(n)
		if final == 'F' {
			s.col = 0
		}
	case 'B', 'E':
		s.row = min(s.row+n, len(s.lines)-1)
		if final == 'E' {
			s.col = 0
		}
	case 'C', 'a':
		s.col = max(s.col, min(s.col+n, maxColumns-8))
	case 'D':
		s.col = max(s.col-n, 0)
	case 'G', '`':
		s.col = n - 1
	case 'd':
		s.toRow(n)
	case 'H', 'f':
		s.toRow(n)
		s.col = max(number(1), 1) - 1
	case 'J':
		s.eraseBelow(number(0))
	case 'K':
		s.eraseInLine(number(0))
	case 'P', 'X':
		s.eraseCells(n, final == 'P')
	case 's':
		s.saved = [2]int{s.above + s.row, s.col}
	case 'u':
		s.restore()
	}
}

// top is the first row that the cursor reaches.
func (s *screen) top() int { return max(s.page, len(s.lines)-reach, 0) }

func (s *screen) up(n int) { s.row = max(s.row-n, min(s.top(), s.row)) }

// toRow goes to a row of the page, from 1.
func (s *screen) toRow(n int) {
	s.open()
	s.row = s.page + min(n, reach) - 1
	for s.row >= len(s.lines) {
		s.lines = append(s.lines, row{})
	}
}

// open begins a page below what is there.
func (s *screen) open() {
	if s.page >= 0 {
		return
	}
	if last := s.lines[len(s.lines)-1]; last.moved || len(last.text) > 0 {
		s.lines = append(s.lines, row{})
	}
	s.page = len(s.lines) - 1
	s.row, s.col = s.page, 0
}

// alternate goes to a screen of its own, or comes back from there.
func (s *screen) alternate(to bool) {
	if to || s.page >= 0 {
		s.open()
		s.lines = append(s.lines[:s.page], row{made: s.begun || s.page > 0})
		s.row, s.col = s.page, 0
	}
	if !to {
		s.page = -1
	}
}

func (s *screen) eraseBelow(how int) {
	switch how {
	case 0:
		s.eraseInLine(0)
		clear(s.lines[s.row+1:])
	case 2, 3:
		s.open()
		s.lines = append(s.lines[:s.page], row{made: true})
		s.row = s.page
	}
}

func (s *screen) eraseInLine(how int) {
	if r := &s.lines[s.row]; !r.moved && (how == 2 || how == 0 && s.col == 0) {
		*r = row{made: r.made, moved: true}
		return
	}
	r := s.cellsUpTo(0)
	switch {
	case r == nil:
	case how == 0:
		s.wipe(r, s.col, len(r.cells))
		r.cells = r.cells[:min(s.col, len(r.cells))]
	case how == 1:
		s.wipe(r, 0, s.col+1)
	case how == 2:
		r.cells = r.cells[:0]
	}
}

// eraseCells makes cells at the cursor blank, or takes them out of the line.
func (s *screen) eraseCells(n int, close bool) {
	r := s.cellsUpTo(0)
	if r == nil || s.col >= len(r.cells) {
		return
	}
	s.wipe(r, s.col, s.col+n)
	if close {
		r.cells = append(r.cells[:s.col], r.cells[min(s.col+n, len(r.cells)):]...)
	}
}
