package terminaltest

import (
	"regexp"
	"strconv"
	"strings"
)

// A Scrollback is a screen with the rows that have left it. It breaks its lines again when its width
// changes. As tmux does, it keeps a screen that is erased from its first place on.
type Scrollback struct {
	rows          []scrollRow // those of the screen are the last ones
	columns, high int
	row, column   int // of the cursor, on the screen
}

type scrollRow struct {
	text []rune
	goes bool // its line goes on in the next row
}

// NewScrollback returns an empty one.
func NewScrollback(columns, rows int) *Scrollback {
	return &Scrollback{rows: make([]scrollRow, rows), columns: columns, high: rows}
}

var scrollPiece = regexp.MustCompile(`\x1b\[([0-9;?]*)([A-Za-z])|(?s:.)`)

// Write shows a text.
func (s *Scrollback) Write(p []byte) (int, error) {
	for _, piece := range scrollPiece.FindAllStringSubmatch(string(p), -1) {
		n := 1
		if given, err := strconv.Atoi(piece[1]); err == nil {
			n = given
		}
		switch piece[2] {
		case "A":
			s.row = max(s.row-n, 0)
		case "C":
			s.column = min(s.column+n, s.columns-1)
		case "J":
			s.eraseDown()
		case "K":
			s.at().text = s.at().text[:min(s.column, len(s.at().text))]
			s.at().goes = false
		case "":
			s.put([]rune(piece[0])[0])
		}
	}
	return len(p), nil
}

func (s *Scrollback) top() int       { return len(s.rows) - s.high }
func (s *Scrollback) at() *scrollRow { return &s.rows[s.top()+s.row] }

func (s *Scrollback) put(r rune) {
	switch r {
	case '\r':
		s.column = 0
		return
	case '\n':
		s.down()
		return
	}
	if s.column == s.columns {
		s.at().goes = true
		s.column = 0
		s.down()
	}
	row := s.at()
	for len(row.text) <= s.column {
		row.text = append(row.text, ' ')
	}
	row.text[s.column] = r
	s.column++
}

func (s *Scrollback) down() {
	if s.row++; s.row == s.high {
		s.rows, s.row = append(s.rows, scrollRow{}), s.high-1
	}
}

func (s *Scrollback) eraseDown() {
	if s.row == 0 && s.column == 0 {
		s.rows = append(s.rows, make([]scrollRow, s.high)...)
		return
	}
	s.at().text = s.at().text[:min(s.column, len(s.at().text))]
	s.at().goes = false
	clear(s.rows[s.top()+s.row+1:])
}

// Resize gives it another size.
func (s *Scrollback) Resize(columns, rows int) {
	if columns != s.columns {
		s.reflow(columns)
	}
	if rows < s.high {
		cut := min(s.high-rows, s.high-1-s.row)
		s.rows = s.rows[:len(s.rows)-cut]
		s.row = min(s.row, rows-1)
	} else {
		pulled := min(rows-s.high, s.top())
		s.row += pulled
		s.rows = append(s.rows, make([]scrollRow, rows-s.high-pulled)...)
	}
	s.high = rows
}

func (s *Scrollback) reflow(columns int) {
	var all []scrollRow
	var line []rune
	cursor, place := s.top()+s.row, -1
	for i, row := range s.rows {
		if i == cursor {
			place = len(line) + s.column
		}
		if line = append(line, row.text...); row.goes && i < len(s.rows)-1 {
			continue
		}
		if place >= 0 && cursor >= 0 {
			s.row, s.column, cursor = len(all)+place/columns, place%columns, -1
		}
		for len(line) > columns {
			all = append(all, scrollRow{line[:columns:columns], true})
			line = line[columns:]
		}
		all, line = append(all, scrollRow{text: line}), nil
	}
	for len(all) < s.high {
		all = append(all, scrollRow{})
	}
	s.rows, s.columns = all, columns
	s.row = max(s.row-s.top(), 0)
}

// Text is the shown text and the earlier one, without the breaks that its width has made.
func (s *Scrollback) Text() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(string(row.text))
		if !row.goes {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
