package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/process/attach"
)

// openMenu is the menu of Ctrl+C for a turn of another process. What the turn
// says waits in the inbox until it is closed.
func (a *attachment) openMenu(ctx context.Context, s attach.Status) error {
	a.show.pause()
	if !s.Doing {
		return a.choose(ctx, "da", "Enter go on", "d detach", abortChoice)
	}
	what := "The model is answering."
	choices, letters := []string{"Enter go on", "r reply", "s stop (ends the turn)", "d detach", abortChoice}, "rsda"
	since := conversation.Ago(time.Duration(s.SinceMS) * time.Millisecond)
	title := toolTitle(s.Tool, s.Subject)
	switch {
	case s.Waits:
		what = fmt.Sprintf("%s waits for another jp that changes files here, %s by now.", title, since)
	case s.Tool != "":
		what = fmt.Sprintf("%s has run %s.", title, since)
	}
	if s.Tool != "" {
		choices, letters = []string{"Enter wait", "x cancel this tool", "s stop the turn", "d detach", abortChoice}, "xsda"
	}
	fmt.Fprintf(a.person.tty, "\n%s\n", what)
	return a.choose(ctx, letters, choices...)
}

// menuAtQuestion is the menu that Ctrl+C opens in the place of an answer.
func (a *attachment) menuAtQuestion(ctx context.Context, i attach.Inquiry) error {
	err := a.choose(ctx, "sda", backChoice, "s stop (ends the turn)", "d detach", abortChoice)
	if errors.Is(err, errBack) {
		return a.ask(ctx, i)
	}
	return err
}

// errBack is the choice to go back to a question.
var errBack = errors.New("back to the question")

// choose does what the person wants of the turn.
func (a *attachment) choose(ctx context.Context, letters string, choices ...string) error {
	tty := a.person.tty
	key, err := tty.Choose(ctx, menuText(tty.Width(), choices...), func(k terminal.Key) bool {
		return k == terminal.KeyEnter || k == terminal.KeyEsc || strings.ContainsRune(letters, rune(k.Lower()))
	})
	if errors.Is(err, terminal.ErrLeft) {
		return errLeave
	}
	if err != nil {
		return err
	}
	action := map[terminal.Key]string{'s': "stop", 'x': "cancel_tool", 'a': "abort", terminal.KeyCtrlC: "abort"}[key.Lower()]
	switch key = key.Lower(); {
	case key == terminal.KeyEnter || key == terminal.KeyEsc:
		fmt.Fprintln(tty)
		if choices[0] == backChoice {
			return errBack
		}
		return nil
	case key == 'd' || key == terminal.KeyCtrlD:
		fmt.Fprintln(tty, "d")
		return errLeave
	case key == 'r':
		fmt.Fprintln(tty, "r")
		return a.reply(ctx)
	}
	if key == terminal.KeyCtrlC {
		key = 'a'
	}
	fmt.Fprintf(tty, "%c\n", key)
	return a.say(&attach.Interrupt{Action: action})
}

func (a *attachment) reply(ctx context.Context) error {
	line, err := a.person.tty.Line(ctx, "Your reply: ")
	switch {
	case errors.Is(err, terminal.ErrInterrupted) || errors.Is(err, terminal.ErrBack) || err == nil && strings.TrimSpace(line) == "":
		return nil // nothing was said; the turn goes on
	case errors.Is(err, terminal.ErrLeft):
		return errLeave
	case err != nil:
		return err
	}
	return a.say(&attach.Interrupt{Action: "reply", Text: line})
}
