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
	// Erase takes away the text since Mark, and reports whether it could; alone: no other text was written since.
	Erase(alone bool) bool
	KeepUnsent(u Unsent)
}

// A Region shows the last lines of a text while they may still change.
type Region interface {
	// Show makes these the lines of the region. If they only grow and the screen has no room for all,
	// the first ones stay above the screen. Otherwise only the last ones are shown.
	Show(lines []string, grow bool) error
	// Hide takes them away.
	Hide() error
	// Keep leaves the lines at their place for good.
	Keep() error
}
