package terminal

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// input reads from a terminal until a context ends. It reads only when there is
// something to read, so no read is ever left behind.
type input struct {
	tty  *TTY
	ctx  context.Context
	wake *os.File // becomes readable when ctx ends
	stop func()
}

func (t *TTY) listen(ctx context.Context) (*input, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	wake, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		end.Close()
		close(ended)
	})
	stop := func() {
		if cancel() {
			end.Close()
		} else {
			<-ended
		}
		wake.Close()
	}
	return &input{tty: t, ctx: ctx, wake: wake, stop: stop}, nil
}

// forever is a wait without a limit.
const forever = time.Duration(-1)

// wait reports whether there is something to read before the time is up. Select
// and not poll: it works on every system's /dev/tty.
func (in *input) wait(limit time.Duration) (bool, error) {
	tty, wake := in.tty.fd(), int(in.wake.Fd())
	if max(tty, wake) >= unix.FD_SETSIZE {
		return false, errors.New("wait for a key: too many open files")
	}
	for {
		var ready unix.FdSet
		ready.Set(tty)
		ready.Set(wake)
		var timeout *unix.Timeval
		if limit >= 0 {
			value := unix.NsecToTimeval(limit.Nanoseconds())
			timeout = &value
		}
		_, err := unix.Select(max(tty, wake)+1, &ready, nil, nil, timeout)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false, in.tty.lost("wait for a key", err)
		case ready.IsSet(wake):
			return false, context.Cause(in.ctx)
		default:
			return ready.IsSet(tty), nil
		}
	}
}

// read waits for input. No bytes without an error is the end of a line-wise
// input.
func (in *input) read(buf []byte) (int, error) {
	for {
		if _, err := in.wait(forever); err != nil {
			return 0, err
		}
		n, err := unix.Read(in.tty.fd(), buf)
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		case err != nil || n <= 0 && in.tty.hungUp():
			return 0, ErrHangup
		default:
			return n, nil
		}
	}
}
