package ui

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/share"
)

// A layout is how much a list says of each conversation besides its title.
type layout struct {
	status func(repo.Status) string
	turns  bool
	longID bool
	last   bool
}

// layouts are the ways to list conversations, from a wide terminal to a narrow
// one.
var layouts = []layout{
	{status: repo.Status.Words, turns: true, longID: true, last: true},
	{status: repo.Status.Brief, turns: true, longID: true, last: true},
	{status: repo.Status.Word, turns: true, longID: true, last: true},
	{status: repo.Status.Word, longID: true, last: true},
	{status: repo.Status.Word, last: true},
	{status: repo.Status.Word},
}

// leastTitle is how many columns a title needs, with its marks.
const leastTitle = 20

type listTable struct {
	env     *Env
	repo    *repo.Repo
	palette terminal.Palette
	current string // the session's conversation
	width   int    // of the terminal, 0 if there is none
	marks   func(*repo.Summary) string
}

func newListTable(ctx context.Context, e *Env, r *repo.Repo) listTable {
	current, _ := r.Find().Visited(ctx, e.Host, 0) // a session may have none
	t := listTable{env: e, repo: r, palette: e.Palette(e.Stdout), current: string(current), marks: share.Marks(r)}
	if IsTerminal(e.Stdout) {
		t.width = terminal.Width(e.Stdout, e.Environ)
	}
	return t
}

func PrintList(ctx context.Context, e *Env, r *repo.Repo, list []*repo.Summary) error {
	switch e.Format {
	case FormatJSON:
		return WriteJSON(e.Results(), list)
	case FormatJSONL:
		for _, l := range list {
			if err := WriteJSON(e.Results(), l); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Messages(), "No conversations.")
		return nil
	}
	return e.Paged(func(w io.Writer) error { return newListTable(ctx, e, r).of(list).Print(w) })
}

// of lays the conversations out in the fullest layout that leaves enough of the terminal for the
// titles, else in the narrowest one.
func (t listTable) of(list []*repo.Summary) *terminal.Table {
	if t.width == 0 {
		return t.in(layouts[0], list)
	}
	for _, l := range layouts {
		if table := t.in(l, list); table.Room() >= max(t.width/4, leastTitle) {
			return table
		}
	}
	return t.in(layouts[len(layouts)-1], list)
}

// in lays the conversations out in one way.
func (t listTable) in(l layout, list []*repo.Summary) *terminal.Table {
	table := &terminal.Table{Width: t.width}
	head := l.columns("", "ID", "STATUS", "TURNS", "LAST", "TITLE")
	table.Flexible = len(head) - 1
	if l.turns {
		table.Right = []int{3}
	}
	if t.width > 0 {
		for i := range head {
			head[i] = t.palette.Dim(head[i])
		}
		table.Row(head...)
	}
	for _, c := range list {
		table.Row(t.cells(l, c)...)
		if c.Status.Question != nil && t.width > 0 {
			table.Line("    " + repo.AskedWords(*c.Status.Tool, "", *c.Status.Question) + t.palette.Dim("   "+action.Answer(c.ShortID).String()))
		}
	}
	return table
}

func (t listTable) cells(l layout, c *repo.Summary) []string {
	star, id := " ", safetext.Clean(c.ID)
	if c.ID == t.current {
		star = "*"
	}
	if !l.longID {
		id = safetext.Clean(c.ShortID)
	}
	id = t.palette.Dim(c.Branch) + id
	if c.Err != nil {
		return l.columns(star, id, t.palette.Red("unreadable"), "", "", problem.OneLine(*c.Error))
	}
	status := statusColoured(t.palette, c.Status, problem.OneLine(l.status(c.Status)))
	return l.columns(star, id, status, strconv.Itoa(c.Turns), terminal.Ago(c.Active(), t.env.Now()), t.title(c))
}

func (l layout) columns(star, id, status, turns, last, title string) []string {
	cells := append(make([]string, 0, 6), star, id, status)
	if l.turns {
		cells = append(cells, turns)
	}
	if l.last {
		cells = append(cells, last)
	}
	return append(cells, title)
}

// title is a conversation's title, behind the marks that must not be overlooked.
func (t listTable) title(c *repo.Summary) string {
	name, owner := problem.OneLine(repo.Title(*c)), t.repo.Standings().Owner(*c)
	for _, mark := range []struct {
		word string
		is   bool
	}{
		{"(" + owner + ")", owner != ""},
		{"(set back)", c.Standing == conversation.StandingRolledBack},
		{"(expired)", c.Expires != nil && c.Expires.Before(t.env.Now())},
		{"(pinned)", c.Pinned != nil},
	} {
		if mark.is {
			name = t.palette.Yellow(mark.word) + " " + name
		}
	}
	for _, mark := range []string{origin(*c), t.marks(c)} {
		if mark != "" {
			name += t.palette.Dim("  (" + safetext.Show(mark) + ")")
		}
	}
	return name
}

// origin describes a conversation's origin as far as the tree does not show it.
func origin(c repo.Summary) string {
	words := ""
	switch {
	case c.ForkedFrom != nil:
		words = fmt.Sprintf("fork of %s@%d", c.ForkedFrom.ID.Short(), c.ForkedFrom.Seq)
	case c.Parent != nil && c.Branch == "":
		words = "works for " + c.Parent.Short()
	}
	if c.Uprooted {
		words += ", which is not listed"
	}
	return words
}

// StatusColour says a status in colour.
func StatusColour(p terminal.Palette, s repo.Status) string {
	return statusColoured(p, s, problem.OneLine(s.Words()))
}

func statusColoured(p terminal.Palette, s repo.Status, words string) string {
	switch s.State {
	case "running":
		return p.Green(words)
	case "waiting_for_input", "interrupted":
		return p.Yellow(words)
	}
	return p.Dim(words)
}
