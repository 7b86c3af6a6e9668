package terminal

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A TTY is a terminal at which a person sits. One question is put at a time; it
// is not safe for concurrent use.
type TTY struct {
	file   *os.File
	out    *Wrapper // to file
	now    func() time.Time
	letter time.Time // when the person last typed a letter that was read
	ended  time.Time // when the last question ended, which another one must not follow too soon
	unread time.Duration
	leave  bool      // Ctrl+Z and Ctrl+\ end a question
	pastes bool      // the terminal may be asked to mark pastes
	unsent Unsent    // nil if unsent text is not kept
	typed  Sequences // of keys, not taken yet
	marked *marked   // the text of a question that may be taken away; nil: none
}

// A marked text is the output since a place on the screen.
type marked struct {
	text        strings.Builder
	width, rows int // of the terminal then
	asked       int // keys
}

// OpenTTY opens the terminal of this process, whether or not stdin and stdout are terminals. It fails
// with [ErrNoTTY] if there is none, or if jp is in its background, since asking would stop it there.
func OpenTTY() (*TTY, error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTTY, err)
	}
	group, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP)
	if err == nil && group != unix.Getpgrp() {
		err = fmt.Errorf("process group %d has it", group)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: %w", ErrNoTTY, err)
	}
	t := NewTTY(file)
	t.pastes = os.Getenv("TERM") != "dumb"
	return t, nil
}

// NewTTY returns the TTY of a terminal that is open for reading and writing. It
// takes the file over.
func NewTTY(file *os.File) *TTY {
	t := &TTY{file: file, now: time.Now, unread: unread, pastes: true}
	t.out = NewWrapper(file, t.Width)
	return t
}

// MayLeave lets Ctrl+Z and Ctrl+\ end a question with [ErrLeft]; while a line is
// typed only Ctrl+Z does.
func (t *TTY) MayLeave() { t.leave = true }

// Write shows text that is clean. Its lines break between words; see [Wrap].
func (t *TTY) Write(p []byte) (int, error) {
	if t.marked != nil {
		t.marked.text.Write(p)
	}
	return t.out.Write(p)
}

// Mark begins the text of a question that goes away when it is answered.
func (t *TTY) Mark() { t.marked = &marked{width: t.Width(), rows: t.Rows()} }

// Erase takes away the text since Mark if all of it is on the screen, one key was typed and alone is
// true: no other text was written since.
func (t *TTY) Erase(alone bool) bool {
	m := t.marked
	t.marked = nil
	if m == nil || !alone || m.asked != 1 || m.width != t.Width() || m.rows != t.Rows() || !strings.HasSuffix(m.text.String(), "\n") {
		return false
	}
	rows := RowsOf(Wrap(m.text.String(), m.width), m.width) - 1
	if rows >= m.rows {
		return false
	}
	_, _ = fmt.Fprintf(t.file, "\x1b[%dA\r", rows) // the next read of a key reports a terminal that is gone
	_, _ = t.file.WriteString(ClearDown)
	return true
}

// Close closes the terminal.
func (t *TTY) Close() error { return t.file.Close() }

// Width is how many columns the terminal has now.
func (t *TTY) Width() int { return Width(t.file, nil) }

// Rows is how many rows the terminal has now.
func (t *TTY) Rows() int { return Rows(t.file) }

// File is the terminal, for an editor or a pager that runs on it.
func (t *TTY) File() *os.File { return t.file }

func (t *TTY) fd() int { return int(t.file.Fd()) }

// hungUp reports whether the terminal is gone.
func (t *TTY) hungUp() bool { return !term.IsTerminal(t.fd()) }

// The sequences that make a terminal mark pastes, and that end it.
const (
	markPastes  = "\x1b[?2004h"
	pastesPlain = "\x1b[?2004l"
)

// enter lets keys come as they are typed and throws away the keys typed so far. It returns whether
// there were any, and a function that puts the terminal's mode back.
func (t *TTY) enter(in *input) (typed bool, restore func(), err error) {
	before, err := unix.IoctlGetTermios(t.fd(), getMode)
	if err != nil {
		return false, nil, ErrHangup
	}
	before = usual(before)
	mode := *before
	byKey(&mode)
	if err := unix.IoctlSetTermios(t.fd(), setMode, &mode); err != nil {
		return false, nil, t.lost("set the terminal's mode", err)
	}
	restore = func() {
		if t.pastes {
			_, _ = t.file.WriteString(pastesPlain)
		}
		_ = unix.IoctlSetTermios(t.fd(), setMode, before)
	}
	if typed, err = in.wait(0); err == nil {
		err = flush(t.fd())
	}
	if err == nil && t.pastes {
		_, err = t.file.WriteString(markPastes)
	}
	if err != nil {
		_ = unix.IoctlSetTermios(t.fd(), setMode, before)
		if cause := context.Cause(in.ctx); cause != nil {
			return false, nil, cause
		}
		return false, nil, t.lost("throw away what was typed", err)
	}
	return typed, restore, nil
}

// DiscardTyped throws away the keys typed at a terminal before a question there.
func DiscardTyped(tty *os.File) { _ = flush(int(tty.Fd())) }

// lost is ErrHangup if the terminal is gone, else the error of an action.
func (t *TTY) lost(act string, err error) error {
	if t.hungUp() {
		return ErrHangup
	}
	return fmt.Errorf("%s: %w", act, err)
}

// usual is the mode to go back to: the previous one, or the usual one if an earlier program was killed
// and left the terminal without lines and echo.
func usual(before *unix.Termios) *unix.Termios {
	mode := *before
	if mode.Lflag&(unix.ICANON|unix.ECHO) == 0 {
		mode.Lflag |= unix.ICANON | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ISIG | unix.IEXTEN
		mode.Iflag |= unix.ICRNL
	}
	return &mode
}

// byKey delivers each key as it is typed, Ctrl+C included, and shows none.
// Output is treated as before.
func byKey(mode *unix.Termios) {
	mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG | unix.IEXTEN
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
}

// InSession reports whether this process runs in a terminal session, with any input and output. A job
// of cron or of another program does not.
func InSession() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}
