package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

// maxPicks is how many conversations a picker offers.
const maxPicks = 200

// pick lets the user choose a conversation at the terminal; without one it says
// how to name it.
func (r *repo) pick(ctx context.Context, e *env) (conversation.ID, error) {
	return r.pickFrom(ctx, e, usage("this session has no conversation yet.").
		hint("jp ls", "the conversations there are; name one by its last digits").hint(`jp query "…"`, "start one"), conversation.ScopeLive)
}

// pickFrom lets the user choose among the conversations of some scopes; none is
// the error where there is no terminal or nothing to choose from.
func (r *repo) pickFrom(ctx context.Context, e *env, none error, scopes ...conversation.Scope) (conversation.ID, error) {
	if !isTerminal(e.stdin) || !isTerminal(e.stderr) {
		return "", none
	}
	var infos []conversation.Info
	for _, scope := range scopes {
		listed, err := r.store.List(ctx, scope)
		if err != nil {
			return "", err
		}
		infos = append(infos, listed...)
	}
	if len(infos) == 0 {
		return "", none
	}
	slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
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
