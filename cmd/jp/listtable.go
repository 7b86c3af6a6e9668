package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// A layout is how much a list says of each conversation besides its title.
type layout struct {
	status func(statusJSON) string
	turns  bool
	longID bool
	last   bool
}

// layouts are the ways to list conversations, from a wide terminal to a narrow
// one.
var layouts = []layout{
	{status: statusJSON.words, turns: true, longID: true, last: true},
	{status: statusJSON.brief, turns: true, longID: true, last: true},
	{status: statusJSON.word, turns: true, longID: true, last: true},
	{status: statusJSON.word, longID: true, last: true},
	{status: statusJSON.word, last: true},
	{status: statusJSON.word},
}

// leastTitle is how many columns a title needs, with its marks.
const leastTitle = 20

// A listTable lists conversations as text.
type listTable struct {
	env     *env
	palette terminal.Palette
	current string // the session's conversation
	width   int    // of the terminal, 0 where there is none
}

func newListTable(ctx context.Context, e *env, r *repo) listTable {
	current, _ := r.find().visited(ctx, e.host, 0) // a session may have none
	t := listTable{env: e, palette: e.palette(e.stdout), current: string(current)}
	if isTerminal(e.stdout) {
		t.width = terminal.Width(e.stdout, e.environ)
	}
	return t
}

func printList(ctx context.Context, e *env, r *repo, list []listing) error {
	switch e.format {
	case formatJSON:
		return writeJSON(e.results(), list)
	case formatJSONL:
		for _, l := range list {
			if err := writeJSON(e.results(), l); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(e.stderr, "No conversations.")
		return nil
	}
	return e.paged(func(w io.Writer) error { return newListTable(ctx, e, r).of(list).Print(w) })
}

// of lays the conversations out: with all that is known of them, if
// enough of the terminal is left for the titles.
func (t listTable) of(list []listing) *terminal.Table {
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
func (t listTable) in(l layout, list []listing) *terminal.Table {
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
			table.Line("    " + oneLine(*c.Status.Question) + t.palette.Dim("   jp answer "+c.ShortID))
		}
	}
	return table
}

func (t listTable) cells(l layout, c listing) []string {
	star, id := " ", safetext.Clean(c.ID)
	if c.ID == t.current {
		star = "*"
	}
	if !l.longID {
		id = safetext.Clean(c.ShortID)
	}
	id = t.palette.Dim(c.branch) + id
	if c.err != nil {
		return l.columns(star, id, t.palette.Red("unreadable"), "", "", oneLine(*c.Error))
	}
	status := statusColoured(t.palette, c.Status, oneLine(l.status(c.Status)))
	return l.columns(star, id, status, strconv.Itoa(c.Turns), terminal.Ago(c.active(), t.env.now()), t.title(c))
}

// columns are the cells that a layout has.
func (l layout) columns(star, id, status, turns, last, title string) []string {
	cells := []string{star, id, status}
	if l.turns {
		cells = append(cells, turns)
	}
	if l.last {
		cells = append(cells, last)
	}
	return append(cells, title)
}

// title is a conversation's title, behind what must not be overlooked.
func (t listTable) title(c listing) string {
	name := oneLine(title(c))
	for _, mark := range []struct {
		word string
		is   bool
	}{
		{"(someone else's)", !c.Local && !c.unsure && !c.setBack},
		{"(set back)", c.setBack},
		{"(expired)", c.Expires != nil && c.Expires.Before(t.env.now())},
		{"(pinned)", c.Pinned != nil},
	} {
		if mark.is {
			name = t.palette.Yellow(mark.word) + " " + name
		}
	}
	if origin := c.origin(); origin != "" {
		name += t.palette.Dim("  (" + origin + ")")
	}
	return name
}

// origin says what a conversation stems from, as far as the tree does not.
func (c listing) origin() string {
	words := ""
	switch {
	case c.ForkedFrom != nil:
		words = fmt.Sprintf("fork of %s@%d", c.ForkedFrom.ID.Short(), c.ForkedFrom.Seq)
	case c.Parent != nil && c.branch == "":
		words = "works for " + c.Parent.Short()
	}
	if c.uprooted {
		words += ", which is not listed"
	}
	return words
}

// statusColour says a status in colour.
func statusColour(p terminal.Palette, s statusJSON) string {
	return statusColoured(p, s, oneLine(s.words()))
}

func statusColoured(p terminal.Palette, s statusJSON, words string) string {
	switch s.State {
	case "running":
		return p.Green(words)
	case "waiting_for_input", "interrupted":
		return p.Yellow(words)
	}
	return p.Dim(words)
}
