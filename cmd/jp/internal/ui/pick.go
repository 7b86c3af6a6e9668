package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"charm.land/huh/v2"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
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
	width := terminal.Width(e.Stderr, e.Environ)
	var options []huh.Option[conversation.ID]
	for _, i := range infos[:min(len(infos), maxPicks)] {
		label := fmt.Sprintf("%s  %-7s %s · %s", i.ID.Short(), terminal.Ago(i.Summary.LastEventAt, e.Now()), problem.OneLine(i.Summary.Title), conversation.Count(i.Summary.Turns, "turn"))
		if i.Summary.Model != "" {
			label += " · " + safetext.OneLine(path.Base(i.Summary.Model))
		}
		options = append(options, huh.NewOption(safetext.Fit(label, width-4), i.ID))
	}
	id, err := choose(ctx, Self{e}, "Which conversation?", options)
	if errors.Is(err, errAborted) {
		err = problem.New(problem.ExitInterrupted, "interrupted", "no conversation was chosen.")
	}
	return id, err
}

// choose lets the user choose at the terminal.
func choose[T comparable](ctx context.Context, s Self, title string, options []huh.Option[T]) (chosen T, err error) {
	e := s.Env
	if hasForms(Redraws(e.Style, e.Get("TERM")), e.Stderr) {
		err = form(ctx, e.formEnviron(), e.Stdin, e.Stderr, huh.NewSelect[T]().Title(title).Options(options...).Value(&chosen))
		return chosen, err
	}
	return chooseByNumber(ctx, title, options)
}

// ChooseRow lets the user choose one of some rows, and is its place; -1 if they choose none.
func (s Self) ChooseRow(ctx context.Context, title string, rows []string) (int, error) {
	e := s.Env
	defer e.Keys.lend(e.Console)()
	width := terminal.Width(e.Stderr, e.Environ)
	var options []huh.Option[int]
	for i, row := range rows[:min(len(rows), maxPicks)] {
		options = append(options, huh.NewOption(safetext.Fit(row, width-4), i))
	}
	chosen, err := choose(ctx, s, title, options)
	if errors.Is(err, errAborted) {
		return -1, nil
	}
	return chosen, err
}

// chooseByNumber lets the user choose in plain lines. huh's own takes the first option where the input
// ends.
func chooseByNumber[T comparable](ctx context.Context, title string, options []huh.Option[T]) (chosen T, err error) {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return chosen, err
	}
	defer tty.Close()
	digits := len(strconv.Itoa(len(options)))
	fmt.Fprintln(tty, title)
	for i, o := range options {
		fmt.Fprintf(tty, "%*d  %s\n", digits, i+1, o.Key)
	}
	for {
		text, err := tty.Line(ctx, fmt.Sprintf("Number (1-%d): ", len(options)))
		text = strings.TrimSpace(text)
		switch {
		case errors.Is(err, terminal.ErrInterrupted), errors.Is(err, terminal.ErrBack), errors.Is(err, io.EOF), err == nil && text == "":
			fmt.Fprintln(tty)
			return chosen, errAborted
		case err != nil:
			return chosen, hangupOf(err)
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
			return options[n-1].Value, nil
		}
		fmt.Fprintf(tty, "Want a number from 1 to %d.\n", len(options))
	}
}
