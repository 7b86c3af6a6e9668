package ui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// maxPicks is how many conversations a picker offers.
const maxPicks = 200

// chooseConversation lets the user choose among conversations, at the terminal.
func (e *Env) chooseConversation(ctx context.Context, candidates func() ([]conversation.Info, error)) (conversation.ID, error) {
	if !IsTerminal(e.Stdin) || !IsTerminal(e.Stderr) {
		return "", repo.ErrNoChoice
	}
	infos, err := candidates()
	if err != nil {
		return "", err
	}
	if len(infos) == 0 {
		return "", repo.ErrNoChoice
	}
	var options []huh.Option[conversation.ID]
	for _, i := range infos[:min(len(infos), maxPicks)] {
		label := fmt.Sprintf("%s  %-7s %s", i.ID, terminal.Ago(i.Summary.LastEventAt, e.Now()), problem.OneLine(i.Summary.Title))
		options = append(options, huh.NewOption(safetext.Fit(label, terminal.Width(e.Stderr, e.Environ)-4), i.ID))
	}
	return choose(ctx, e, "Which conversation?", options)
}

// choose lets the user take one of the options. A signal ends it as it ends any
// command, and leaves the terminal as it was.
func choose(ctx context.Context, e *Env, title string, options []huh.Option[conversation.ID]) (id conversation.ID, err error) {
	form := huh.NewForm(huh.NewGroup(huh.NewSelect[conversation.ID]().Title(title).Options(options...).Value(&id)))
	keys := huh.NewDefaultKeyMap()
	keys.Quit.SetKeys("ctrl+c", "esc")
	form.WithKeyMap(keys)
	terminal.DiscardTyped(e.Stdin)
	// Signals are jp's alone: a form that takes them, too, waits for ever to hand one on after the context has ended.
	form.WithProgramOptions(tea.WithoutSignalHandler(), tea.WithEnvironment(e.formEnviron())).WithInput(e.Stdin).WithOutput(e.Stderr)
	switch err := form.RunWithContext(ctx); {
	case errors.Is(err, huh.ErrUserAborted):
		return "", problem.New(problem.ExitInterrupted, "interrupted", "no conversation was chosen.")
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
