package terminal

import "errors"

var (
	// ErrNoTTY means that no person can answer at a terminal: jp has none, or runs in its background.
	ErrNoTTY = errors.New("no terminal to ask")
	// ErrHangup means that the terminal went away, without an answer.
	ErrHangup = errors.New("the terminal is gone")
	// ErrInterrupted means that the person typed Ctrl+C.
	ErrInterrupted = errors.New("interrupted")
	// ErrBack means that the person typed Esc in the place of a line.
	ErrBack = errors.New("back")
	// ErrLeft means that the person typed a key that leaves; see [TTY.MayLeave].
	ErrLeft = errors.New("left")
)
