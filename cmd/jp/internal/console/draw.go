package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// A drawn is the drawn part of the terminal below the text that stays.
type drawn struct {
	lines  []string
	cursor place
	block  int // how many of them, the first ones, are of the block
	width  int // of the terminal then
	rows   int
}

// A place is a row and a column within the drawn lines.
type place struct{ row, column int }

// render draws the view, below a text of whole lines that stays. It writes the changes, in one piece.
// The lock is held.
func (c *Console) render(text string) {
	if c.keys == nil || c.resizing {
		c.unseen += text // another program has the terminal, or it has no size yet
		return
	}
	width, rows := c.tty.Width(), terminal.Rows(c.file)
	c.settle(width, rows)
	draft := composer{&c.view, c.palette, width, rows, c.now()}
	lines, cursor, block, cut := draft.compose()
	if cut { // a question that does not fit stays above the screen, as text, in full
		var whole string
		whole, c.view.held = c.view.heldLines()
		text = terminal.Wrap(whole, width) + text
		lines, cursor, block, _ = draft.compose()
	}
	if above := len(c.view.block) - block; c.view.grows && above > 0 {
		c.prefix.Add(c.view.block[:above])
		text += strings.Join(c.view.block[:above], "\n") + "\n"
		c.view.block = c.view.block[above:]
	}
	before := &c.draw
	moved := width != before.width || rows != before.rows
	if text == "" && !moved && cursor == before.cursor && slices.Equal(lines, before.lines) {
		return
	}
	var b strings.Builder
	up := before.up(width)
	b.WriteString(upwards(up))
	if moved {
		b.WriteString(terminal.ClearDown)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if safetext.Columns(line) >= width {
			b.WriteString(terminal.ClearDown)
		} else {
			b.WriteString("\x1b[K")
		}
		b.WriteString(line + "\r\n")
	}
	all := moved || text != ""
	below := all || len(lines) < len(before.lines)
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if all || i >= len(before.lines) || before.lines[i] != line || below && i == len(lines)-1 {
			b.WriteString(line)
			if safetext.Columns(line) < width { // else the cursor is on its last character
				b.WriteString("\x1b[K")
			}
		}
	}
	if below && (len(lines) == 0 || safetext.Columns(lines[len(lines)-1]) < width) {
		b.WriteString("\x1b[J")
	}
	down := max(len(lines)-1, 0)
	b.WriteString(upwards(down - cursor.row))
	c.row = min(max(c.row-up, 0)+strings.Count(text, "\n")+down, rows-1) - (down - cursor.row)
	if cursor.column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", cursor.column)
	}
	c.draw = drawn{lines, cursor, block, width, rows}
	c.emit(b.String())
}

// settle gives up the lines of the block that have left the screen since the terminal has another
// size. The lock is held.
func (c *Console) settle(width, rows int) {
	d, v := &c.draw, &c.view
	if d.width == 0 || d.width == width && d.rows == rows || c.resizing {
		return
	}
	c.row = min(c.row, rows-1)
	for _, line := range d.lines[min(d.cursor.row+1, len(d.lines)):] { // if these break again, all above moves up
		c.row -= terminal.RowsOf(line, width) - 1
	}
	c.row = max(c.row, 0)
	up, first := d.cursor.column/max(width, 1), d.cursor.row
	for ; first > 0; first-- {
		if up += terminal.RowsOf(d.lines[first-1], width); up > c.row {
			break
		}
	}
	if n := min(first, d.block); slices.Equal(d.lines[:d.block], v.block) {
		c.prefix.Add(v.block[:n])
		v.block = v.block[n:]
		d.lines, d.block, d.cursor.row = d.lines[n:], d.block-n, d.cursor.row-n
	}
}

func (c *Console) emit(text string) {
	if c.lost != nil {
		return
	}
	if _, err := io.WriteString(c.file, text); err != nil {
		c.lose(fmt.Errorf("%w: %w", terminal.ErrHangup, err))
	}
}

// personMark stands before the person's text.
const personMark = "❯ "

// upwards moves the cursor to the beginning of a row above.
func upwards(rows int) string {
	if rows > 0 {
		return fmt.Sprintf("\x1b[%dA\r", rows)
	}
	return "\r"
}

// up is how many rows the cursor is below the first drawn line, on a terminal that breaks its lines
// again when its width changes.
func (d *drawn) up(width int) int {
	up := 0
	if len(d.lines) > 0 {
		for _, line := range d.lines[:d.cursor.row] {
			up += terminal.RowsOf(line, width)
		}
		up += d.cursor.column / max(width, 1)
	}
	return up
}

// erased takes the lines away, with the cursor at their beginning.
func (d *drawn) erased(width int) string {
	if len(d.lines) == 0 {
		return ""
	}
	return upwards(d.up(width)) + terminal.ClearDown
}

// A composer lays a view out for a terminal.
type composer struct {
	view        *view
	palette     terminal.Palette
	width, rows int
	now         time.Time
}

// compose is the lines to draw, the place of the cursor, the number of lines that are of the block, and whether lines of a
// question have no room.
func (c composer) compose() (lines []string, cursor place, ofBlock int, cut bool) {
	v, width, rows := c.view, c.width, c.rows
	room, most := max(width-1, 1), max(rows-1, 1)
	tail := fitted(v.above, room)
	inputAt := len(tail)
	under := v.below
	switch q := v.question; {
	case q == nil:
	case q.dropped != "":
		under = append(slices.Clip(under), c.palette.Yellow("press "+q.dropped+" again"))
	case v.line.text != "" && !v.armed(c.now):
		under = append(slices.Clip(under), c.palette.Dim("Tab: answer the question above"))
	case len(v.above) > 0 && v.line.text == "" && !q.direct: // a message was queued that may have been meant as an answer
		under = append(slices.Clip(under), c.palette.Yellow("the question above is still open"))
	}
	framed := rows >= leastFramed
	inputMost := max(rows/2, 1)
	if framed { // the rows below the line are on the screen
		inputMost = max(min(inputMost, most-len(under)-3), 2)
	}
	input, at := c.input(room, inputMost)
	rule := c.palette.Dim(strings.Repeat("─", room))
	if framed && len(input) > 0 {
		tail, inputAt = append(tail, rule), inputAt+1
		tail = append(append(tail, input...), rule)
	} else {
		tail = append(tail, input...)
	}
	tail = append(tail, fitted(under, room)...)
	if len(v.bottom) > 0 && framed {
		tail = append(tail, c.palette.Dim(bottomOf(v.bottom, v.right, room)))
	}
	if len(tail) > most {
		cut := min(len(tail)-most, inputAt)
		tail, inputAt = tail[cut:], inputAt-cut
		tail = tail[:min(len(tail), most)]
	}
	asked := c.asked(room)
	var held []string
	if whole, _ := v.heldLines(); whole != "" {
		held = strings.Split(strings.TrimSuffix(terminal.Wrap(whole, width), "\n"), "\n")
	}
	head := slices.Concat(fitted(v.status, room), fitted(held, width), asked)
	over := max(0, len(head)-(most-len(tail)))
	head, cut = head[over:], over > 0 && held != nil
	block := v.block[max(0, len(v.block)-(most-len(tail)-len(head))):]
	lines = slices.Concat(block, head, tail)
	cursor = place{len(block) + len(head) + inputAt + at.row, at.column}
	if v.reading == nil && v.question != nil && len(asked) > 0 && (v.line.text == "" || v.armed(c.now)) {
		last := len(block) + len(head) - 1
		cursor = place{last, min(safetext.Columns(lines[last]), room)}
	}
	if len(lines) == 0 || cursor.row >= len(lines) {
		return lines, place{}, len(block), cut
	}
	return lines, cursor, len(block), cut
}

// leastFramed is how many rows a terminal has at which the line stands in a frame.
const leastFramed = 10

// bottomOf is the last line: its parts as far as they fit, and something at the right edge if there is
// still room.
func bottomOf(parts []string, right string, room int) string {
	line := " " + strings.Join(parts, " · ")
	for len(parts) > 1 && safetext.Columns(line) > room {
		parts = parts[:len(parts)-1]
		line = " " + strings.Join(parts, " · ")
	}
	if gap := room - safetext.Columns(line) - safetext.Columns(right); gap >= 2 {
		line += strings.Repeat(" ", gap) + right
	}
	return safetext.Fit(line, room)
}

// asked is the end of a text that waits for more, with the mark of a question that can be answered.
func (c composer) asked(room int) []string {
	v := c.view
	text, q := v.partial, v.question
	if v.holds {
		_, text = v.heldLines()
	}
	ready := q != nil && v.armed(c.now)
	if q != nil && q.marked && ready {
		text += marker
	}
	if text == "" && (q == nil || v.line.text != "") {
		return nil
	}
	lines := strings.Split(terminal.Wrap(strings.TrimRight(text, " "), room), "\n")
	if strings.HasSuffix(text, " ") {
		lines[len(lines)-1] += " "
	}
	return fitted(lines, room)
}

// input is the rows of the edited line, as many as there may be around the cursor, and its place.
func (c composer) input(room, most int) ([]string, place) {
	v := c.view
	prompt, e := personMark, &v.line
	switch {
	case v.reading != nil:
		prompt, e = v.reading.prompt, &v.reading.line
	case (v.question != nil || v.holds) && e.text == "": // the text of a question that goes away may fill the screen
		return nil, place{}
	}
	prompt = safetext.Fit(prompt, max(room/2, 1))
	indent := safetext.Columns(prompt)
	rows := layout(e.text, max(room-indent, 1))
	now := rowOf(rows, e.at)
	from := max(0, min(now-most+1, len(rows)-most))
	var lines []string
	for i, r := range rows[from:min(from+most, len(rows))] {
		lead := strings.Repeat(" ", indent)
		if i == 0 {
			lead = c.palette.Bold(prompt)
		}
		lines = append(lines, lead+shown(e.text[r.start:r.end]))
	}
	return lines, place{now - from, indent + columns(e.text[rows[now].start:e.at])}
}

func fitted(lines []string, width int) []string {
	fit := make([]string, len(lines))
	for i, line := range lines {
		fit[i] = line
		if safetext.Columns(line) > width {
			fit[i] = ansi.Truncate(line, width, "…")
		}
	}
	return fit
}
