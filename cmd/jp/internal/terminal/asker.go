package terminal

import (
	"context"
	"io"
)

// An Asker is a terminal at which questions are put: a [TTY], or one that shows other things at
// the same time. Its methods are those of TTY.
type Asker interface {
	io.Writer
	Width() int
	Rows() int
	Choose(ctx context.Context, prompt string, accept func(Key) bool) (Key, error)
	Line(ctx context.Context, prompt string) (string, error)
	LineOr(ctx context.Context, prompt, offered string) (string, error)
	Repeat()
	// Mark begins the text of a question that goes away when it is answered.
	Mark()
	// Erase takes the text since Mark away, as far as it can; alone: nothing else was written since.
	Erase(alone bool)
	KeepUnsent(u Unsent)
}

// A Region is where the last lines of a text are shown while they may still change.
type Region interface {
	// Show makes these the lines of the region. If they only grow, the first ones stay above the
	// screen where there is no room for all. Otherwise only the last ones are shown.
	Show(lines []string, grow bool) error
	// Hide takes them away.
	Hide() error
	// Keep leaves them where they are, for good.
	Keep() error
}
