package blame

import (
	"context"
	"slices"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/worktree"
)

type LogOptions struct {
	Target   string
	Paths    []string // as typed
	Within   []string // the same, from the working tree's root
	Limit    int
	Turn     int
	Stat     bool
	Patch    bool
	Reverse  bool
	Internal bool
}

// An Entry is an event with what it changed in the files.
type Entry struct {
	Event   *conversation.Event
	Before  string // tree before it
	Changes []worktree.Change
}

// Reach says how far back a view must go for [Entries] to have all that is asked for; nil: to the
// first event.
func (o LogOptions) Reach() repo.Reach {
	if o.Limit == 0 || len(o.Paths) > 0 {
		return nil
	}
	seen, shown := 0, 0
	return func(back []*conversation.Event) bool {
		for _, e := range back[seen:] {
			shown += problem.Count(o.Internal || !e.Type().Internal())
		}
		seen = len(back)
		return shown > o.Limit // one more: the files before the oldest one that is shown
	}
}

// Entries are the events to show, in the order to show them.
func Entries(ctx context.Context, v *repo.View, o LogOptions) ([]Entry, error) {
	if o.Turn > 0 {
		if _, _, err := v.TurnEvents(o.Turn); err != nil {
			return nil, err
		}
	}
	compare := o.Stat || o.Patch || len(o.Paths) > 0
	before := v.Events[0].Tree
	if compare && v.Events[0].Seq == 0 {
		var err error
		if before, err = Ground(ctx, v); err != nil {
			return nil, err
		}
	}
	var entries []Entry
	for _, ev := range v.Events {
		it := Entry{Event: ev, Before: before}
		before = ev.Tree
		if o.Turn > 0 && ev.Turn != o.Turn || ev.Type().Internal() && !o.Internal {
			continue
		}
		if len(o.Paths) > 0 {
			touched, err := changes(ctx, v, it, o.Within, false)
			if err != nil {
				return nil, err
			}
			if len(touched) == 0 {
				continue
			}
		}
		entries = append(entries, it)
	}
	if o.Limit > 0 && len(entries) > o.Limit {
		entries = entries[len(entries)-o.Limit:]
	}
	for i := range entries {
		if !compare {
			break
		}
		var err error
		if entries[i].Changes, err = changes(ctx, v, entries[i], o.Within, !o.Patch); err != nil {
			return nil, err
		}
	}
	if !o.Reverse {
		slices.Reverse(entries)
	}
	return entries, nil
}

// changes are what an event changed in some paths, or in all, perhaps with the number of
// lines.
func changes(ctx context.Context, v *repo.View, it Entry, paths []string, count bool) ([]worktree.Change, error) {
	if it.Before == it.Event.Tree {
		return nil, nil
	}
	tree, err := v.Repo.Patches(ctx)
	if err != nil {
		return nil, err
	}
	compare := tree.Compare
	if count {
		compare = tree.Diff
	}
	changes, err := compare(ctx, it.Before, it.Event.Tree)
	if len(paths) == 0 || err != nil {
		return changes, err
	}
	return slices.DeleteFunc(changes, func(c worktree.Change) bool { return !worktree.Under(c.Path, paths) }), nil
}
