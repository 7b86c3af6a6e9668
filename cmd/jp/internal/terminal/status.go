package terminal

import (
	"fmt"
	"io"
	"strings"
)

// A Status is a few lines below everything else on a terminal that change in place. Between draws the
// cursor stands at the beginning of the first one: then a terminal that breaks lines again when it
// gets narrower takes the cursor along, and a shell's prompt overwrites the lines that a kill leaves.
// The cursor is never hidden. Other writers clear the lines first.
type Status struct {
	out   io.Writer
	lines []string
	width int
}

// NewStatus returns the lines of a terminal, none so far.
func NewStatus(out io.Writer) *Status { return &Status{out: out} }

// Draw shows lines in the place of the last ones. Each has to fit a terminal of that width, with a
// column to spare. It writes the changes, in one piece.
func (s *Status) Draw(width int, lines ...string) error {
	if len(lines) == 0 {
		return s.Clear()
	}
	resized := width != s.width
	below := len(lines) < len(s.lines) || resized && len(s.lines) > 0 // there may be more than is written over
	var b strings.Builder
	b.WriteString("\r") // keys that were typed have moved the cursor
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if resized || i >= len(s.lines) || s.lines[i] != line || below && i == len(lines)-1 {
			b.WriteString(line + "\x1b[K")
		}
	}
	if below {
		b.WriteString("\x1b[J")
	}
	if len(lines) > 1 {
		fmt.Fprintf(&b, "\x1b[%dA", len(lines)-1)
	}
	b.WriteString("\r")
	s.lines, s.width = lines, width
	_, err := io.WriteString(s.out, b.String())
	return err
}

// Clear takes the lines away.
func (s *Status) Clear() error {
	if len(s.lines) == 0 {
		return nil
	}
	s.lines = nil
	_, err := io.WriteString(s.out, "\r"+ClearDown)
	return err
}
