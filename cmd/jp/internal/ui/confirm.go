package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"charm.land/huh/v2"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

// A Confirmation is a question that is answered with yes or no at the terminal.
type Confirmation struct {
	ID       conversation.ID // what it is about, if that is one conversation
	List     func(io.Writer, terminal.Palette)
	Question string
	Form     bool           // it is about more than one can take back: buttons, with No chosen
	Unasked  *problem.Error // why it cannot be done where there is no terminal
}

// HasTerminal reports whether there is a user to ask.
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
	if c.Form && hasForms(Redraws(e.Style, e.Get("TERM")), tty.File()) {
		return c.choose(ctx, e, tty)
	}
	return c.ask(ctx, tty, p)
}

// choose asks the question with buttons. Keys that were typed before are thrown away: they
// were meant for something else.
func (c *Confirmation) choose(ctx context.Context, e *Env, tty *terminal.TTY) error {
	yes := false
	err := form(ctx, e.formEnviron(), tty.File(), tty.File(), confirmKeys(), huh.NewConfirm().Title(c.Question).Affirmative("Yes").Negative("No").Value(&yes))
	answer := "no"
	switch {
	case errors.Is(err, errAborted):
		answer, err = "^C", problem.Unchanged(problem.ExitInterrupted, "interrupted").About(c.ID)
	case err != nil:
		return err
	case yes:
		answer = "yes"
	default:
		err = problem.Unchanged(problem.ExitDecision, "usage").About(c.ID)
	}
	fmt.Fprintf(tty, "%s %s\n", c.Question, answer) // the form is gone from the screen
	return err
}

// ask asks the question.
func (c *Confirmation) ask(ctx context.Context, tty *terminal.TTY, p terminal.Palette) error {
	question := terminal.Choices(tty.Width(), 0, c.Question, p.Bold("y")+" yes", p.Bold("n")+" no") + "\n> "
	key, err := tty.Choose(ctx, question, oneOf("yn"))
	if err != nil {
		return hangupOf(err)
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
