package blame

import (
	"context"
	"slices"

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

// Entries are the events to show, in the order to show them.
func Entries(ctx context.Context, v *repo.View, o LogOptions) ([]Entry, error) {
	if o.Turn > 0 {
		if _, _, err := v.TurnEvents(o.Turn); err != nil {
			return nil, err
		}
	}
	compare := o.Stat || o.Patch || len(o.Paths) > 0
	before := v.Events[0].Tree
	if compare {
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
		if compare && it.Before != ev.Tree {
			var err error
			if it.Changes, err = changes(ctx, v, it.Before, ev.Tree, o.Within); err != nil {
				return nil, err
			}
		}
		if len(o.Paths) > 0 && len(it.Changes) == 0 {
			continue
		}
		entries = append(entries, it)
	}
	if o.Limit > 0 && len(entries) > o.Limit {
		entries = entries[len(entries)-o.Limit:]
	}
	if !o.Reverse {
		slices.Reverse(entries)
	}
	return entries, nil
}

// changes are the differences of two trees in some paths, or in all.
func changes(ctx context.Context, v *repo.View, a, b string, paths []string) ([]worktree.Change, error) {
	tree, err := v.Repo.Trees(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := tree.Diff(ctx, a, b)
	if len(paths) == 0 || err != nil {
		return changes, err
	}
	return slices.DeleteFunc(changes, func(c worktree.Change) bool { return !worktree.Under(c.Path, paths) }), nil
}
