package ui

import (
	"io"
	"os"

	"jp/cmd/jp/internal/terminal"
)

// A Console is a terminal on which the user goes on typing while jp shows things and asks. All of jp's
// output there goes through it.
type Console interface {
	io.Writer
	terminal.Region
	status
	// Asker is the console for questions.
	Asker() terminal.Asker
	// Direct is the console for a question that the user has asked for: the next key answers it.
	Direct() terminal.Asker
	// Suspend lets another program have the terminal, until resume is called.
	Suspend() (resume func())
	// Text is the text of the line that the user edits, and Submit enters it.
	Text() string
	Submit()
}

// A status is a few lines below everything else that change in place.
type status interface {
	Draw(width int, lines ...string) error
	Clear() error
}

// shownOn is the writer for a stream: the console, if there is one.
func shownOn(c Console, stream *os.File) io.Writer {
	if c != nil && terminal.IsTerminal(stream) {
		return c
	}
	return stream
}

// statusOn is the status of a stream, or of the console.
func statusOn(c Console, stream *os.File) status {
	if c != nil {
		return c
	}
	return terminal.NewStatus(stream)
}
