// Package terminaltest is a terminal with a screen and a keyboard for tests. Tests wait for the screen
// and never sleep.
package terminaltest

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// patience is how long a test waits for something that must come.
const patience = time.Minute

// A Screen is a terminal: a program has its TTY, the test types and reads.
type Screen struct {
	// View, if set, changes the text that Text returns.
	View func(text string) string

	TTY *os.File // the program's end

	t      *testing.T
	master *os.File
	vt     *vt.Emulator
	end    func() // of the emulator
	scroll *Scrollback
	done   chan struct{} // closed at the end of the output

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each output
	raw     strings.Builder
	begun   []byte // a sequence at the end that is not whole yet
}

// New returns a screen with columns and rows. It is taken away when the test
// ends.
func New(t *testing.T, columns, rows int) *Screen {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal here: ", err)
	}
	return Around(t, master, tty, columns, rows)
}

// Around returns the screen of a terminal that is open. Tty may be nil if the program is another
// process.
func Around(t *testing.T, master, tty *os.File, columns, rows int) *Screen {
	t.Helper()
	e, end := emulator(columns, rows)
	s := &Screen{
		TTY: tty, t: t, master: pollable(t, master), vt: e, end: end, scroll: NewScrollback(columns, rows),
		done: make(chan struct{}), changed: make(chan struct{}),
	}
	s.setSize(columns, rows)
	go s.watch()
	t.Cleanup(func() {
		s.Hangup()
		if s.TTY != nil {
			s.TTY.Close()
		}
	})
	return s
}

// emulator returns a terminal of a size. It drops its answers to programs, until end is called.
func emulator(columns, rows int) (e *vt.Emulator, end func()) {
	e = vt.NewEmulator(columns, rows)
	answers := e.InputPipe().(io.Closer) // Close of the emulator itself is a race with its Read
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, e)
	}()
	return e, func() {
		_ = answers.Close()
		<-done
	}
}

// Shown is the text of an emulator, without the blanks at the ends of lines and the empty lines at the bottom.
func Shown(e *vt.Emulator) string {
	lines := strings.Split(e.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// pollable is a file whose Close ends a Read that waits.
func pollable(t *testing.T, file *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, unix.SetNonblock(fd, true))
	return os.NewFile(uintptr(fd), "screen")
}

func (s *Screen) watch() {
	defer close(s.done)
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		_, _ = s.vt.Write(buf[:n])
		_, _ = s.scroll.Write(s.whole(buf[:n]))
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

var unfinished = regexp.MustCompile(`\x1b(\[[?<=>]?[0-9;]*)?$`)

// whole is a text without a sequence at its end that goes on in the next one, and with the end of the one before.
func (s *Screen) whole(text []byte) []byte {
	text = append(s.begun, text...)
	whole := len(text)
	if at := unfinished.FindIndex(text); at != nil {
		whole = at[0]
	}
	s.begun = slices.Clone(text[whole:])
	return text[:whole]
}

// Type types keys.
func (s *Screen) Type(keys string) {
	s.t.Helper()
	_, err := s.master.WriteString(keys)
	require.NoError(s.t, err)
}

// Drain waits until everything that programs wrote to the terminal is shown: until the last one has
// closed it, or for a second if one keeps it open.
func (s *Screen) Drain() {
	select {
	case <-s.done:
	case <-time.After(time.Second):
	}
}

// Hangup takes the terminal away from the program, once.
func (s *Screen) Hangup() {
	_ = s.master.Close()
	<-s.done
	s.end()
}

// Resize gives the terminal another size.
func (s *Screen) Resize(columns, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.vt.Resize(columns, rows)
	s.scroll.Resize(columns, rows)
	s.mu.Unlock()
	s.setSize(columns, rows)
}

func (s *Screen) setSize(columns, rows int) {
	s.t.Helper()
	conn, err := s.master.SyscallConn()
	require.NoError(s.t, err)
	size := &unix.Winsize{Col: uint16(columns), Row: uint16(rows)}
	require.NoError(s.t, conn.Control(func(fd uintptr) { err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) }))
	require.NoError(s.t, err)
}

// Text is the shown text, without the blanks at the ends of lines and the empty lines at the bottom.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := Shown(s.vt)
	if s.View != nil {
		return s.View(text)
	}
	return text
}

// Painted is the text of the screen with its colours, as escape sequences within each line, without the empty lines at the bottom.
func (s *Screen) Painted() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(strings.ReplaceAll(s.vt.Render(), "\r\n", "\n"), "\n ")
}

// Scrolled is the text that has left the screen, and the shown text.
func (s *Screen) Scrolled() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scroll.Text()
}

// Raw is everything that was sent to the terminal.
func (s *Screen) Raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// WaitFor waits until the screen shows a text.
func (s *Screen) WaitFor(text string) {
	s.t.Helper()
	s.Wait(text, func() bool { return strings.Contains(s.Text(), text) })
}

// WaitForEnd waits until the last line of the screen ends with a text.
func (s *Screen) WaitForEnd(text string) {
	s.t.Helper()
	s.Wait(text, func() bool { return strings.HasSuffix(s.Text(), text) })
}

// Wait waits until a condition holds for the screen.
func (s *Screen) Wait(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			require.FailNow(s.t, "the screen never showed: "+what, s.Text())
		}
	}
}

// All is everything that was sent to the terminal, once the program is done with it.
func (s *Screen) All() string {
	if s.TTY != nil {
		s.TTY.Close()
		s.TTY = nil
	}
	s.Drain()
	return s.Raw()
}
