package terminal

import "errors"

var (
	// ErrNoTTY says that there is no terminal at which a person could answer: jp
	// has none, or runs in its background.
	ErrNoTTY = errors.New("no terminal to ask")
	// ErrHangup says that the terminal went away. No answer came.
	ErrHangup = errors.New("the terminal is gone")
	// ErrInterrupted says that the person typed Ctrl+C.
	ErrInterrupted = errors.New("interrupted")
	// ErrBack says that the person typed Esc in the place of a line.
	ErrBack = errors.New("back")
	// ErrLeft says that the person typed a key that leaves; see [TTY.MayLeave].
	ErrLeft = errors.New("left")
)
