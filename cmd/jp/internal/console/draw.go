package console

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// A drawn is what stands on the terminal below the text that stays.
type drawn struct {
	lines  []string
	cursor place
	width  int // of the terminal then
}

// A place is one within the drawn lines.
type place struct{ row, column int }

// render draws the view, below a text of whole lines that stays. It writes what has changed, in
// one piece. The lock is held.
func (c *Console) render(text string) {
	if c.keys == nil {
		if c.lost == nil && text != "" {
			c.emit(strings.ReplaceAll(text, "\n", "\r\n")) // another program has the terminal
		}
		return
	}
	width, rows := c.tty.Width(), terminal.Rows(c.file)
	lines, cursor := c.compose(width, rows)
	before := &c.draw
	moved := width != before.width
	if text == "" && !moved && cursor == before.cursor && slices.Equal(lines, before.lines) {
		return
	}
	var b strings.Builder
	b.WriteString(before.top(width))
	if moved {
		b.WriteString("\x1b[J")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if safetext.Columns(line) >= width {
			b.WriteString("\x1b[J")
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
	if up := len(lines) - 1 - cursor.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if cursor.column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", cursor.column)
	}
	c.draw = drawn{lines, cursor, width}
	c.emit(b.String())
}

// erase takes the drawn lines away. The lock is held.
func (c *Console) erase() {
	if len(c.draw.lines) > 0 {
		c.emit(c.draw.top(c.tty.Width()) + "\x1b[J")
	}
	c.draw = drawn{}
}

func (c *Console) emit(text string) {
	if c.lost != nil {
		return
	}
	if _, err := io.WriteString(c.file, text); err != nil {
		c.lose(fmt.Errorf("%w: %w", terminal.ErrHangup, err))
	}
}

// top moves the cursor to where the drawn lines begin, on a terminal that breaks its lines again
// when its width changes.
func (d *drawn) top(width int) string {
	up := 0
	if len(d.lines) > 0 {
		for _, line := range d.lines[:d.cursor.row] {
			up += rowsOf(line, width)
		}
		up += d.cursor.column / max(width, 1)
	}
	if up > 0 {
		return fmt.Sprintf("\x1b[%dA\r", up)
	}
	return "\r"
}

// rowsOf is how many rows a line takes.
func rowsOf(line string, width int) int {
	if columns := safetext.Columns(line); columns > width && width > 0 {
		return (columns + width - 1) / width
	}
	return 1
}

// compose is the lines to draw, and where the cursor goes.
func (c *Console) compose(width, rows int) (lines []string, cursor place) {
	v := &c.view
	room := max(width-1, 1)
	input, at := c.input(room, max(rows/2, 1))
	var tail []string
	tail = append(tail, fitted(v.above, room)...)
	inputAt := len(tail)
	tail = append(tail, input...)
	tail = append(tail, fitted(c.under(), room)...)
	most := max(rows-1, 1)
	if len(tail) > most {
		cut := min(len(tail)-most, inputAt)
		tail, inputAt = tail[cut:], inputAt-cut
		tail = tail[:min(len(tail), most)]
	}
	asked := c.asked(room)
	head := slices.Concat(fitted(v.status, room), asked)
	head = head[max(0, len(head)-(most-len(tail))):]
	block := v.block[max(0, len(v.block)-(most-len(tail)-len(head))):]
	lines = slices.Concat(block, head, tail)
	cursor = place{len(block) + len(head) + inputAt + at.row, at.column}
	if v.reading == nil && v.question != nil && len(asked) > 0 && (v.line.text == "" || v.armed(c.now())) {
		last := len(block) + len(head) - 1
		cursor = place{last, min(safetext.Columns(lines[last]), room)}
	}
	if len(lines) == 0 || cursor.row >= len(lines) {
		return lines, place{}
	}
	return lines, cursor
}

// under is the lines below the line that is edited.
func (c *Console) under() []string {
	v := &c.view
	if v.question != nil && v.line.text != "" && !v.armed(c.now()) {
		return append(slices.Clip(v.below), c.palette.Dim("Tab: answer the question above"))
	}
	return v.below
}

// asked is the end of a text that waits for more, with the mark of a question that can be answered.
func (c *Console) asked(room int) []string {
	v := &c.view
	text, q := v.partial, v.question
	ready := q != nil && v.armed(c.now())
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

// input is the rows of the line that is edited, as many as there may be around the cursor, and
// where it is.
func (c *Console) input(room, most int) ([]string, place) {
	v := &c.view
	prompt, e := v.prompt, &v.line
	switch {
	case v.reading != nil:
		prompt, e = v.reading.prompt, &v.reading.line
	case v.question != nil && e.text == "":
		return nil, place{}
	}
	if prompt == "" && e.text == "" {
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
