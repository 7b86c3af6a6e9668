package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/turnloop"
)

// A Confirmation is a question that is answered with yes or no at the terminal.
type Confirmation struct {
	ID       conversation.ID // what it is about, if that is one conversation
	List     func(io.Writer, terminal.Palette)
	Question string
	Unasked  *problem.Error // why it cannot be done where there is no terminal
}

// HasTerminal reports whether there is somebody to ask.
func HasTerminal() bool {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// Confirm asks. Whatever is not a yes changes nothing, and is an error.
func (e *Env) Confirm(ctx context.Context, c Confirmation) error {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return c.Unasked
	}
	defer tty.Close()
	p := e.Palette(tty.File())
	c.List(tty, p)
	return c.ask(ctx, tty, p)
}

// ask asks the question.
func (c *Confirmation) ask(ctx context.Context, tty *terminal.TTY, p terminal.Palette) error {
	question := terminal.Choices(tty.Width(), 0, c.Question, p.Bold("y")+" yes", p.Bold("n")+" no") + "\n> "
	key, err := tty.Choose(ctx, question, oneOf("yn"))
	switch {
	case errors.Is(err, terminal.ErrHangup):
		return &turnloop.Interrupt{Signal: "SIGHUP"}
	case err != nil:
		return err
	}
	switch key.Lower() {
	case 'y':
		fmt.Fprintln(tty, "y")
		return nil
	case terminal.KeyCtrlC:
		fmt.Fprintln(tty, "^C")
		return problem.Unchanged(problem.ExitInterrupted, "interrupted").About(c.ID)
	}
	fmt.Fprintln(tty, "n")
	return problem.Unchanged(problem.ExitDecision, "usage").About(c.ID)
}

// oneOf accepts the letters of a prompt, and Esc, which changes nothing.
func oneOf(letters string) func(terminal.Key) bool {
	return func(k terminal.Key) bool {
		return k == terminal.KeyEsc || strings.ContainsRune(letters, rune(k.Lower()))
	}
}
