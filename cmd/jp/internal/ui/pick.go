package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/huh/v2"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
)

// chooseConversation lets the user choose among conversations, at the terminal.
func (e *Env) chooseConversation(ctx context.Context, candidates func() ([]repo.Choice, error)) (conversation.ID, error) {
	if !IsTerminal(e.Stdin) || !IsTerminal(e.Stderr) {
		return "", repo.ErrNoChoice
	}
	choices, err := candidates()
	if err != nil {
		return "", err
	}
	if len(choices) == 0 {
		return "", repo.ErrNoChoice
	}
	var options []huh.Option[conversation.ID]
	for i, row := range pickRows(choices, terminal.Width(e.Stderr, e.Environ)-4, e.Now()) {
		options = append(options, huh.NewOption(row, choices[i].Info.ID))
	}
	id, err := choose(ctx, Self{e}, "Which conversation?", options)
	if errors.Is(err, errAborted) {
		err = problem.New(problem.ExitInterrupted, "interrupted", "no conversation was chosen.")
	}
	return id, err
}

const (
	leastPickTitle = 20 // columns of a title before another column takes room
	leastLast      = 12 // columns of a last line
)

// pickRows are the rows of conversations in so many columns: title, age, turns, model, last line, as far as each has room.
func pickRows(choices []repo.Choice, width int, now time.Time) (rows []string) {
	columns := make([][]string, 4) // age, turns, model, title
	for _, c := range choices {
		s := c.Info.Summary
		title := problem.OneLine(s.Title)
		if slices.ContainsFunc(choices, func(o repo.Choice) bool { return o.Info.ID != c.Info.ID && o.Info.Summary.Title == s.Title }) && title != "" {
			title += " · " + c.Info.ID.Short()
		}
		if title == "" {
			title = c.Info.ID.Short()
		}
		model := ""
		if s.Model != "" {
			model = safetext.OneLine(path.Base(s.Model))
		}
		for i, cell := range []string{terminal.Ago(s.LastEventAt, now), conversation.Count(s.Turns, "turn"), safetext.Fit(model, 20), title} {
			columns[i] = append(columns[i], cell)
		}
	}
	room := width
	var shown [][]string
	for _, column := range columns[:3] {
		takes := 2 + widest(column)
		if room-takes < leastPickTitle {
			break
		}
		room -= takes
		shown = append(shown, padded(column))
	}
	titles, last := min(widest(columns[3]), room), 0
	if left := room - min(titles, max(leastPickTitle, room*3/5)) - 2; len(shown) == 3 && left >= leastLast {
		titles, last = room-left-2, left
	}
	for i, title := range apart(columns[3], titles) {
		cells := []string{pad(title, titles)}
		for _, column := range shown {
			cells = append(cells, column[i])
		}
		if last > 0 {
			cells = append(cells, safetext.Fit(safetext.OneLine(choices[i].Last), last))
		}
		rows = append(rows, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return rows
}

// apart fits titles into columns. Those that would look alike show their beginning, and the words from which on they differ.
func apart(titles []string, columns int) []string {
	fitted, alike := make([]string, len(titles)), map[string][]string{}
	for i, title := range titles {
		fitted[i] = safetext.Fit(title, columns)
		alike[fitted[i]] = append(alike[fitted[i]], title)
	}
	for i, title := range titles {
		from := len(title)
		for _, other := range alike[fitted[i]] {
			same := 0
			for same < min(len(title), len(other)) && title[same] == other[same] {
				same++
			}
			if other != title {
				from = min(from, same)
			}
		}
		if from == len(title) {
			continue
		}
		from = strings.LastIndexByte(title[:from], ' ') + 1
		if begin := max(columns/3, columns-safetext.Columns(title[from:])); from > begin && safetext.Columns(title) > columns {
			fitted[i] = safetext.Fit(safetext.Fit(title, begin)+title[from:], columns)
		}
	}
	return fitted
}

func widest(column []string) (most int) {
	for _, cell := range column {
		most = max(most, safetext.Columns(cell))
	}
	return most
}

func padded(column []string) (cells []string) {
	for _, cell := range column {
		cells = append(cells, pad(cell, widest(column)))
	}
	return cells
}

func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-safetext.Columns(text), 0))
}

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
	for i, row := range rows {
		options = append(options, huh.NewOption(safetext.Fit(row, width-4), i))
	}
	chosen, err := choose(ctx, s, title, options)
	if errors.Is(err, errAborted) {
		return -1, nil
	}
	return chosen, err
}

// chooseByNumber lets the user choose in plain lines. huh's own takes the first option when the input
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
