package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

type listOptions struct {
	archived   bool
	status     string
	since      string
	sort       string
	descending bool
	limit      int
}

func newListCommand(e *env) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the conversations", GroupID: "look", Args: cobra.NoArgs,
		Long: "List the conversations of this repository, the one that was active last at the end.\n" +
			"A star marks this session's.\n\nExit codes: 0 done · 2 usage",
		Example: "  jp ls\n  jp ls --status waiting\n  jp ls --json | jq -r '.[]|select(.status.state==\"interrupted\")|.id'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := atLeast(cmd.Flags(), 1, "limit"); err != nil {
				return err
			}
			return runList(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.archived, "archived", false, "the archived ones")
	f.StringVar(&o.status, "status", "", "only those that are `idle, running, waiting or interrupted`")
	f.StringVar(&o.since, "since", "", "only those active since a `TIME`: 2h, 2026-11-21, RFC 3339")
	f.StringVar(&o.sort, "sort", "activity", "sort by `activity, created, updated, title or events`")
	f.BoolVar(&o.descending, "descending", false, "the other way round")
	f.IntVarP(&o.limit, "limit", "n", 0, "at most `N`, the last ones of the order")
	return cmd
}

func runList(ctx context.Context, e *env, o listOptions) error {
	order, err := o.order()
	if err != nil {
		return err
	}
	keep, err := o.filter(e.now())
	if err != nil {
		return err
	}
	r, err := openRepo(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	scope := conversation.ScopeLive
	if o.archived {
		scope = conversation.ScopeArchived
	}
	infos, err := r.store.List(ctx, scope)
	if err != nil {
		return err
	}
	list := []listing{}
	for _, i := range infos {
		if l := r.list(ctx, i); keep(l) {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b listing) int { return cmp.Or(order(a, b), cmp.Compare(a.ID, b.ID)) })
	if o.descending {
		slices.Reverse(list)
	}
	if o.limit > 0 && len(list) > o.limit {
		list = list[len(list)-o.limit:]
	}
	return printList(ctx, e, r, list)
}

func (o listOptions) order() (func(a, b listing) int, error) {
	switch o.sort {
	case "activity", "updated":
		return func(a, b listing) int { return a.LastEvent.Compare(b.LastEvent) }, nil
	case "created":
		return func(a, b listing) int { return a.Created.Compare(b.Created) }, nil
	case "title":
		return func(a, b listing) int { return cmp.Compare(title(a), title(b)) }, nil
	case "events":
		return func(a, b listing) int { return cmp.Compare(a.Events, b.Events) }, nil
	}
	return nil, usage("--sort %q is none of activity, created, updated, title, events.", o.sort)
}

func (o listOptions) filter(now time.Time) (func(listing) bool, error) {
	state := map[string]string{
		"": "", "idle": "idle", "running": "running", "interrupted": "interrupted",
		"waiting": "waiting_for_input", "waiting-for-input": "waiting_for_input", "waiting_for_input": "waiting_for_input",
	}
	want, known := state[o.status]
	if !known {
		return nil, usage("--status %q is none of idle, running, waiting, interrupted.", o.status)
	}
	var since time.Time
	if o.since != "" {
		var ok bool
		if since, ok = parseTime(o.since, now); !ok {
			return nil, usage("--since %q is not a time: 2h, 2026-11-21, or RFC 3339.", o.since)
		}
	}
	return func(l listing) bool {
		return (want == "" || l.Status.State == want) && !l.LastEvent.Before(since)
	}, nil
}

func title(l listing) string {
	if l.Title == nil {
		return ""
	}
	return *l.Title
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
	return e.paged(func(w io.Writer) error { return listTable(ctx, e, r, list).Print(w) })
}

func listTable(ctx context.Context, e *env, r *repo, list []listing) *terminal.Table {
	palette := terminal.NewPalette(e.stdout, e.environ)
	current, _ := r.visited(ctx, e, 0)
	t := &terminal.Table{Flexible: 5, Right: []int{3}}
	if isTerminal(e.stdout) {
		t.Width = terminal.Width(e.stdout, e.environ)
		t.Row("", palette.Dim("ID"), palette.Dim("STATUS"), palette.Dim("TURNS"), palette.Dim("LAST"), palette.Dim("TITLE"))
	}
	for _, l := range list {
		star := " "
		if l.ID == current {
			star = "*"
		}
		if l.err != nil {
			t.Row(star, string(l.ID), palette.Red("unreadable"), "", "", oneLine(l.Error))
			continue
		}
		name := oneLine(title(l))
		if l.ForkedFrom != nil {
			name += palette.Dim(fmt.Sprintf("  (fork of %s@%d)", l.ForkedFrom.ID.Short(), l.ForkedFrom.Seq))
		}
		if !l.Local {
			name += palette.Dim("  (someone else's)")
		}
		t.Row(star, string(l.ID), statusColour(palette, l.Status), strconv.Itoa(l.Turns), terminal.Ago(l.LastEvent, e.now()), name)
		if l.Status.Question != nil && t.Width > 0 {
			t.Line("                    " + terminal.Fit(oneLine(*l.Status.Question), t.Width-20))
		}
	}
	return t
}

func statusColour(p terminal.Palette, s statusJSON) string {
	words := oneLine(s.words())
	switch s.State {
	case "running":
		return p.Green(words)
	case "waiting_for_input", "interrupted":
		return p.Yellow(words)
	}
	return p.Dim(words)
}

func writeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// paged writes a long text, through the user's pager on a terminal.
func (e *env) paged(write func(io.Writer) error) (err error) {
	w, err := terminal.Page(e.environ, e.stdout, !e.noPager && !e.format.structured())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, w.Close()) }()
	return write(resultWriter{w, &e.lost})
}

func itoa(n int) string { return strconv.Itoa(n) }

func refOf(id conversation.ID) string { return "refs/jp/conversations/" + string(id) }

// oneLine makes a text fit on one line of a list.
func oneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return terminal.Clean(line)
}
