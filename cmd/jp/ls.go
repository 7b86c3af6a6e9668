package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

type listOptions struct {
	archived   bool
	remote     string // "" for none, anyRemote for all
	status     string
	since      string
	sort       string
	descending bool
	limit      int
	tree       bool
	follow     bool
}

const listHelp = `List the conversations of this repository, the most recently active one last. A
star marks this session's. With --tree, forks stand below their source. With
--follow, jp updates the list until Ctrl+C or q. Piped, it lists a conversation
again when it changes. --remote lists fetched conversations, which other commands
read as REMOTE/ID.

JSON: docs/json.md

Exit codes: 0 done · 2 usage`

func newListCommand(e *ui.Env) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the conversations", GroupID: "look",
		Long:    listHelp,
		Example: "  jp ls\n  jp ls --status waiting\n  jp ls --tree --since 7d\n  jp ls --json | jq -r '.[]|select(.status.state==\"interrupted\")|.id'",
		Args: func(cmd *cobra.Command, args []string) error {
			err := cobra.NoArgs(cmd, args)
			if err != nil && o.remote == repo.AnyRemote {
				return problem.Usage("jp ls takes no arguments.").Hint(action.ListRemote(args[0]), "if this is the remote: it needs the =")
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := atLeast(cmd.Flags(), 1, "limit"); err != nil {
				return err
			}
			return runList(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.archived, "archived", false, "list archived ones")
	f.StringVar(&o.remote, "remote", "", "list fetched ones, from all remotes or from `R`")
	f.Lookup("remote").NoOptDefVal = repo.AnyRemote
	f.StringVar(&o.status, "status", "", "only those in `STATE`: idle, running, waiting or interrupted")
	f.StringVar(&o.since, "since", "", "only those active since `TIME`: 2h, 2026-11-21, RFC 3339")
	f.StringVar(&o.sort, "sort", "activity", "sort by `ORDER`: activity, created, updated, title or events")
	f.BoolVar(&o.descending, "descending", false, "reverse the order")
	f.BoolVar(&o.tree, "tree", false, "show forks below their source")
	f.BoolVar(&o.follow, "follow", false, "keep the list up to date; piped, list changed ones again")
	f.IntVarP(&o.limit, "limit", "n", 0, "at most `N`, from the end")
	cmd.MarkFlagsMutuallyExclusive("archived", "remote")
	return cmd
}

func runList(ctx context.Context, e *ui.Env, o listOptions) error {
	_, err := o.order()
	if err == nil {
		_, err = o.filter(e.Now())
	}
	if err != nil {
		return err
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.States().Sweep(ctx, e.Host)
	if o.follow {
		return ui.FollowList(ctx, e, r, repo.NewWatch(r, o.scope(), o.remote), o.arrange)
	}
	list, err := r.States().Newest(ctx, o.scope(), o.remote, o.newest())
	if err != nil {
		return err
	}
	if o.remote != "" && o.remote != repo.AnyRemote && len(list) == 0 {
		e.Note("Nothing was fetched from %s.", safetext.Show(o.remote))
	}
	if o.archived {
		if err := r.Find().NoteHidden(e.Host); err != nil {
			return err
		}
	}
	return ui.PrintList(ctx, e, r, o.arrange(list, e.Now()))
}

func (o listOptions) scope() conversation.Scope {
	switch {
	case o.archived:
		return conversation.ScopeArchived
	case o.remote != "":
		return conversation.ScopeRemotes
	}
	return conversation.ScopeLive
}

// newest is how many idle conversations have to be known, of those with the newest events.
func (o listOptions) newest() int {
	if o.limit > 0 && !o.descending && (o.sort == "activity" || o.sort == "updated") {
		return o.limit
	}
	return math.MaxInt
}

// arrange filters and orders the list. The options are checked.
func (o listOptions) arrange(list []*repo.Summary, now time.Time) []*repo.Summary {
	order, _ := o.order()
	keep, _ := o.filter(now)
	kept := make([]*repo.Summary, 0, len(list))
	for _, l := range list {
		if keep(l) {
			kept = append(kept, l)
		}
	}
	slices.SortFunc(kept, func(a, b *repo.Summary) int {
		if c := order(a, b); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if o.descending {
		slices.Reverse(kept)
	}
	if o.limit > 0 && len(kept) > o.limit {
		kept = kept[len(kept)-o.limit:]
	}
	if o.tree {
		kept = ui.ForestOf(kept)
	}
	return kept
}

func (o listOptions) order() (func(a, b *repo.Summary) int, error) {
	switch o.sort {
	case "activity", "updated":
		return func(a, b *repo.Summary) int { return a.Active().Compare(b.Active()) }, nil
	case "created":
		return func(a, b *repo.Summary) int { return a.Created.Compare(b.Created) }, nil
	case "title":
		return func(a, b *repo.Summary) int { return cmp.Compare(repo.Title(*a), repo.Title(*b)) }, nil
	case "events":
		return func(a, b *repo.Summary) int { return cmp.Compare(a.Events, b.Events) }, nil
	}
	return nil, problem.Usage("invalid --sort %q (want activity, created, updated, title or events).", o.sort)
}

func (o listOptions) filter(now time.Time) (func(*repo.Summary) bool, error) {
	state := map[string]string{
		"": "", "idle": "idle", "running": "running", "interrupted": "interrupted",
		"waiting": "waiting_for_input", "waiting-for-input": "waiting_for_input", "waiting_for_input": "waiting_for_input",
	}
	want, known := state[o.status]
	if !known {
		return nil, problem.Usage("invalid --status %q (want idle, running, waiting or interrupted).", o.status)
	}
	var since time.Time
	if o.since != "" {
		var ok bool
		if since, ok = repo.ParseTime(o.since, now); !ok {
			return nil, repo.NoTime("--since", o.since, "a time: 2h, 2026-11-21, or RFC 3339")
		}
	}
	return func(l *repo.Summary) bool {
		return (want == "" || l.Status.State == want) && !l.Active().Before(since)
	}, nil
}
