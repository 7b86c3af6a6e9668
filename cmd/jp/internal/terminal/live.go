package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"jp/internal/safetext"
)

// A live region is the last lines of a terminal, which change while they are
// shown. The cursor stays behind the last of them. Other writers to the
// terminal hide the region first.
type live struct {
	out   io.Writer
	lines []string
	width int // of a terminal that breaks lines again when it gets narrower; 0: it cuts them off
}

// Show makes the region these lines. What stays is not written again: where a
// text only grows, no more goes to the terminal than what it grew by.
func (l *live) Show(lines []string) error {
	same := 0
	for same < len(l.lines) && same < len(lines) && l.lines[same] == lines[same] {
		same++
	}
	var out strings.Builder
	last := len(l.lines) - 1
	switch {
	case same == len(lines) && same == len(l.lines):
		return nil
	case last >= 0 && same >= last && len(lines) > last && strings.HasPrefix(lines[last], l.lines[last]):
		out.WriteString(lines[last][len(l.lines[last]):])
		same = last + 1
	default:
		out.WriteString(l.erase(same))
		same = min(same, len(lines))
		if same > 0 {
			same-- // it is written again behind the cursor
		}
		out.WriteString(strings.Join(lines[same:min(same+1, len(lines))], ""))
		same++
	}
	for _, line := range lines[min(same, len(lines)):] {
		out.WriteString("\n" + line)
	}
	l.lines = lines
	_, err := io.WriteString(l.out, out.String())
	return err
}

// erase takes away all lines behind the first few, and the last of those as well:
// the cursor is where that one began.
func (l *live) erase(keep int) string {
	if len(l.lines) == 0 {
		return ""
	}
	up := -1
	for _, line := range l.lines[max(keep, 1)-1:] {
		up += l.rows(line)
	}
	if up > 0 {
		return fmt.Sprintf("\x1b[%dA\r\x1b[J", up)
	}
	return "\r\x1b[J"
}

// rows is how many rows a line takes.
func (l *live) rows(line string) int {
	if l.width == 0 || safetext.Columns(line) <= l.width {
		return 1
	}
	rows, column := 1, 0
	for text := ansi.Strip(line); text != ""; {
		next, wide := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if column+wide > l.width {
			rows, column = rows+1, 0
		}
		text, column = text[len(next):], column+wide
	}
	return rows
}

// Hide takes the region away.
func (l *live) Hide() error {
	_, err := io.WriteString(l.out, l.erase(0))
	l.lines = nil
	return err
}

// Keep leaves the lines where they are, for good.
func (l *live) Keep() error {
	if len(l.lines) == 0 {
		return nil
	}
	l.lines = nil
	_, err := io.WriteString(l.out, "\n")
	return err
}
