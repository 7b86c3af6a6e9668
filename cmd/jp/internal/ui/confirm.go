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
)

// A Confirmation is a question that is answered with yes or no at the terminal.
type Confirmation struct {
	ID       conversation.ID // of the conversation, if it is about one
	List     func(io.Writer, terminal.Palette)
	Question string
	Unasked  *problem.Error // the error if there is no terminal
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

// Confirm asks. Any answer but yes changes nothing, and is an error.
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

func (c *Confirmation) ask(ctx context.Context, tty terminal.Asker, p terminal.Palette) error {
	yes, err := yesNo(ctx, tty, terminal.Choices(tty.Width(), 0, c.Question, p.Bold("y")+" yes", p.Bold("n")+" no"), nil)
	switch {
	case errors.Is(err, errAborted):
		return problem.Unchanged(problem.ExitInterrupted, "interrupted").About(c.ID)
	case err == nil && !yes:
		return problem.Unchanged(problem.ExitDecision, "usage").About(c.ID)
	}
	return err
}

// yesNo asks until the answer is yes or no. Esc and Ctrl+D are a no, and Ctrl+C is errAborted. The key
// d shows details, nil for none.
func yesNo(ctx context.Context, tty terminal.Asker, question string, details func() string) (yes bool, err error) {
	letters := "yn"
	if details != nil {
		letters += "d"
	}
	for {
		key, err := tty.Choose(ctx, question+"\n> ", func(k terminal.Key) bool {
			return k == terminal.KeyEsc || strings.ContainsRune(letters, rune(k.Lower()))
		})
		if err != nil {
			return false, hangupOf(err)
		}
		switch key.Lower() {
		case 'y':
			fmt.Fprintln(tty, "y")
			return true, nil
		case 'd':
			fmt.Fprint(tty, "d\n", details())
		case terminal.KeyCtrlC:
			fmt.Fprintln(tty, "^C")
			return false, errAborted
		default:
			fmt.Fprintln(tty, "n")
			return false, nil
		}
	}
}
