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
	out    io.Writer
	lines  []string
	width  int    // of a terminal that breaks lines again when it gets narrower; 0: it cuts them off
	height int    // of the terminal
	row    int    // the cursor is at least so many rows below the top of the screen
	most   int    // how many of the last lines are shown; 0: all
	prefix Prefix // of the block, which has left the screen
	whole  bool   // the lines are all of the block behind the prefix
}

// ClearDown erases from the beginning of a row on. Some terminals treat a screen that is erased from
// its first place on as if it had scrolled away, and keep it.
const ClearDown = "\x1b[K\x1b[C\x1b[J\r"

// settle gives up the lines, except for the last one, that may have left the screen since the terminal has another height or
// width.
func (l *live) settle(height int) {
	l.height, l.row = height, min(l.row, height-1)
	if !l.whole || len(l.lines) == 0 {
		return
	}
	first := len(l.lines) - 1
	for up := l.rows(l.lines[first]) - 1; first > 0; first-- {
		if up += l.rows(l.lines[first-1]); up > l.row {
			break
		}
	}
	l.prefix.Add(l.lines[:first])
	l.lines = l.lines[first:]
}

// Show makes the region these lines. Unchanged lines are not written again: if a text only grows, only
// the growth goes to the terminal.
func (l *live) Show(lines []string, grow bool) error {
	lines = l.prefix.Rest(lines)
	above := 0
	if l.most > 0 {
		above = max(0, len(lines)-l.most)
	}
	l.whole = grow || above == 0
	if !l.whole {
		lines, above = lines[above:], 0
	}
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
	l.prefix.Add(lines[:above])
	l.lines = lines[above:]
	l.row = min(l.row+strings.Count(out.String(), "\n"), max(l.height-1, 0))
	_, err := io.WriteString(l.out, out.String())
	return err
}

// erase takes away all lines behind the first few, and the last of those as well: the cursor is at the
// beginning of that one.
func (l *live) erase(keep int) string {
	if len(l.lines) == 0 {
		return ""
	}
	up := -1
	for _, line := range l.lines[max(keep, 1)-1:] {
		up += l.rows(line)
	}
	l.row = max(l.row-up, 0)
	if up > 0 {
		return fmt.Sprintf("\x1b[%dA\r", up) + ClearDown
	}
	return "\r" + ClearDown
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

// Keep leaves the lines at their place for good.
func (l *live) Keep() error {
	l.prefix = Prefix{}
	if len(l.lines) == 0 {
		return nil
	}
	l.lines = nil
	l.row = min(l.row+1, max(l.height-1, 0))
	_, err := io.WriteString(l.out, "\n")
	return err
}
