package terminal

import (
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// A Screen shows lines in place, on the whole of a terminal. Close brings the terminal's earlier
// content back.
type Screen struct {
	out    *os.File
	w      io.Writer
	shown  []string
	width  int
	height int
}

const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the other screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// NewScreen returns the screen of a terminal that w writes to. It stays unchanged until the first
// Draw.
func NewScreen(out *os.File, w io.Writer) *Screen { return &Screen{out: out, w: w} }

// Height is how many lines fit, at least one.
func (s *Screen) Height() int {
	if _, rows, err := term.GetSize(int(s.out.Fd())); err == nil && rows > 0 {
		return rows
	}
	return 24
}

// Resized reports whether the terminal has another size than at the last Draw.
func (s *Screen) Resized() bool { return s.width != Width(s.out, nil) || s.height != s.Height() }

// Draw shows lines, each of which must fit into the width, from the top. It does not write unchanged
// lines again.
func (s *Screen) Draw(lines []string) error {
	lines = lines[:min(len(lines), s.Height())]
	if !s.Resized() && slices.Equal(lines, s.shown) {
		return nil
	}
	var b strings.Builder
	if s.width == 0 {
		b.WriteString(enterScreen)
	}
	// Each row is erased before its text: behind the last column a terminal erases the character that stands there.
	b.WriteString("\x1b[H\x1b[K" + strings.Join(lines, "\r\n\x1b[K"))
	if len(lines) < s.Height() {
		b.WriteString("\r\n\x1b[J")
	}
	s.shown, s.width, s.height = slices.Clone(lines), Width(s.out, nil), s.Height()
	_, err := io.WriteString(s.w, b.String())
	return err
}

// Close gives the terminal back as it was.
func (s *Screen) Close() error {
	if s.width == 0 {
		return nil
	}
	s.width = 0
	_, err := io.WriteString(s.w, leaveScreen)
	return err
}
