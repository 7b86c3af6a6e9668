package terminal

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// A Keyboard reads all keys typed at a terminal, byte by byte and without showing them, until it is
// closed. It keeps keys that were typed before.
type Keyboard struct {
	in     *input
	before *unix.Termios
}

// Keyboard opens the keyboard of a terminal. It ends with ctx.
func (t *TTY) Keyboard(ctx context.Context) (*Keyboard, error) {
	in, err := t.listen(ctx)
	if err != nil {
		return nil, err
	}
	k := &Keyboard{in: in}
	if k.before, err = unix.IoctlGetTermios(t.fd(), getMode); err == nil {
		k.before = usual(k.before)
		mode := *k.before
		byKey(&mode)
		mode.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR // Enter is not Ctrl+J
		err = unix.IoctlSetTermios(t.fd(), setMode, &mode)
	}
	if err == nil && t.pastes {
		_, err = t.file.WriteString(markPastes)
	}
	if err != nil {
		in.stop()
		return nil, t.lost("set the terminal's mode", err)
	}
	return k, nil
}

// Read waits for typed bytes until a limit, or without one if it is negative. It returns no bytes if
// the time is up, and [ErrHangup] if the terminal is gone.
func (k *Keyboard) Read(limit time.Duration) ([]byte, error) {
	if limit >= 0 {
		if more, err := k.in.wait(limit); !more || err != nil {
			return nil, err
		}
	}
	buf := make([]byte, 4096)
	n, err := k.in.read(buf)
	if err == nil && n == 0 {
		err = ErrHangup
	}
	return buf[:n], err
}

// Close gives the terminal its mode back.
func (k *Keyboard) Close() error {
	defer k.in.stop()
	var err error
	if k.in.tty.pastes {
		_, err = k.in.tty.file.WriteString(pastesPlain)
	}
	return errors.Join(err, unix.IoctlSetTermios(k.in.tty.fd(), setMode, k.before))
}

// The marks that a terminal sends before and behind a paste.
const (
	PasteBegins = pasteBegins
	PasteEnds   = pasteEnds
)
