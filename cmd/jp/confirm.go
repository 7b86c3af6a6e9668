package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/turnloop"
)

// A confirmation is a question that is answered with yes or no at the terminal.
type confirmation struct {
	id       conversation.ID // what it is about, if that is one conversation
	list     func(io.Writer, terminal.Palette)
	question string
	unasked  *failure // why it cannot be done where there is no terminal
}

// hasTerminal reports whether there is somebody to ask.
func hasTerminal() bool {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// confirm asks. Whatever is not a yes changes nothing, and is an error.
func (e *env) confirm(ctx context.Context, c confirmation) error {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return c.unasked
	}
	defer tty.Close()
	p := e.palette(tty.File())
	c.list(tty, p)
	question := fmt.Sprintf("%s  %s yes   %s no\n> ", c.question, p.Bold("y"), p.Bold("n"))
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
		return unchanged(exitInterrupted, "interrupted").about(c.id)
	}
	fmt.Fprintln(tty, "n")
	return unchanged(exitDecision, "usage").about(c.id)
}

// oneOf accepts the letters of a prompt.
func oneOf(letters string) func(terminal.Key) bool {
	return func(k terminal.Key) bool { return strings.ContainsRune(letters, rune(k.Lower())) }
}
