package main

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// maxPicks is how many conversations a picker offers.
const maxPicks = 200

// chooseConversation lets the user choose among conversations, at the terminal.
func (e *env) chooseConversation(ctx context.Context, candidates func() ([]conversation.Info, error)) (conversation.ID, error) {
	if !isTerminal(e.stdin) || !isTerminal(e.stderr) {
		return "", errNoChoice
	}
	infos, err := candidates()
	if err != nil {
		return "", err
	}
	if len(infos) == 0 {
		return "", errNoChoice
	}
	var options []huh.Option[conversation.ID]
	for _, i := range infos[:min(len(infos), maxPicks)] {
		label := fmt.Sprintf("%s  %-7s %s", i.ID, terminal.Ago(i.Summary.LastEventAt, e.now()), oneLine(i.Summary.Title))
		options = append(options, huh.NewOption(safetext.Fit(label, terminal.Width(e.stderr, e.environ)-4), i.ID))
	}
	return choose(ctx, e, "Which conversation?", options)
}

// choose lets the user take one of the options. A signal ends it as it ends any
// command, and leaves the terminal as it was.
func choose(ctx context.Context, e *env, title string, options []huh.Option[conversation.ID]) (id conversation.ID, err error) {
	form := huh.NewForm(huh.NewGroup(huh.NewSelect[conversation.ID]().Title(title).Options(options...).Value(&id)))
	// Signals are jp's alone: a form that takes them, too, waits for ever to hand one on after the context has ended.
	form.WithProgramOptions(tea.WithoutSignalHandler(), tea.WithEnvironment(e.formEnviron())).WithInput(e.stdin).WithOutput(e.stderr)
	switch err := form.RunWithContext(ctx); {
	case errors.Is(err, huh.ErrUserAborted):
		return "", fail(exitInterrupted, "interrupted", "no conversation was chosen.")
	case errors.Is(err, huh.ErrTimeout): // any end from outside is called so
		if cause := context.Cause(ctx); cause != nil {
			return "", cause
		}
		return "", &turnloop.Interrupt{Signal: "SIGHUP"} // the terminal is gone
	case err != nil:
		return "", fmt.Errorf("choose a conversation: %w", err)
	}
	return id, nil
}
