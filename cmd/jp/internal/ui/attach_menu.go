package ui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/process/attach"
	"jp/turnloop"
)

const detachChoice = "d detach"

// openMenu is the menu of Ctrl+C for a turn of another process. The turn's messages wait in the inbox
// until it is closed.
func (a *attachment) openMenu(ctx context.Context, s attach.Status) error {
	a.printer.pause()
	tty := a.person.direct()
	if a.options.Chat != nil {
		tty.Mark()
		defer tty.Erase(true)
	}
	choices := []string{"Enter go on"}
	if s.Doing {
		now, what := a.env.Now(), ""
		what, choices = choicesFor(turnloop.Activity{
			Name: s.Tool, Argument: s.Subject, Waits: s.Waits, Started: now.Add(-time.Duration(s.SinceMS) * time.Millisecond),
		}, now)
		fmt.Fprintf(tty, "\n%s\n", what)
	}
	return a.command(steer(ctx, tty, append(choices, detachChoice, abort(false)), nil, nil))
}

// menuAtQuestion is the menu that Ctrl+C opens in the place of an answer.
func (a *attachment) menuAtQuestion(ctx context.Context) (*turnloop.UserCommand, error) {
	return a.person.passing(ctx, a.person.tty, backChoice, "s stop (ends the turn)", detachChoice, abort(false))
}

func (a *attachment) command(c *turnloop.UserCommand, err error) error {
	switch {
	case errors.Is(err, errAbort):
		return a.say(&attach.Interrupt{Action: "abort"})
	case errors.Is(err, terminal.ErrLeft):
		return errLeave
	case err != nil || c == nil:
		return err
	}
	action := map[turnloop.CommandKind]string{
		turnloop.CommandStop: "stop", turnloop.CommandCancelTool: "cancel_tool", turnloop.CommandReply: "reply",
	}[c.Kind]
	a.printer.said = c.Text
	return a.say(&attach.Interrupt{Action: action, Text: c.Text})
}
