package blame

import (
	"context"
	"iter"
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

// An Entry is an event with its changes of the files.
type Entry struct {
	Event   *conversation.Event
	Before  string // tree before it
	Changes []worktree.Change
}

// Reach is how far back a view must go for [Entries] to have all entries of the options; nil: to the first
// event.
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

// A Log is a conversation's log.
type Log struct {
	View    *repo.View
	Entries []Entry // in the order to show them; nil if Each reads them
	options LogOptions
}

// OpenLog finds the conversation. It reads the entries, unless they are all from the newest back
// and whole is false.
func OpenLog(ctx context.Context, h *repo.Host, r *repo.Repo, o LogOptions, whole bool) (l *Log, err error) {
	l = &Log{options: o}
	switch {
	case o.Turn > 0:
		l.View, err = r.Find().ViewTurns(ctx, h, o.Target, o.Turn, o.Turn)
	case whole || o.Reverse || o.Limit > 0 && len(o.Paths) == 0:
		l.View, err = r.Find().ViewBack(ctx, h, o.Target, o.Reach())
	default:
		l.View, err = r.Find().ViewByTurn(ctx, h, o.Target)
		return l, err
	}
	if err == nil {
		l.Entries, err = Entries(ctx, l.View, o)
	}
	return l, err
}

// Each yields the entries, and reads each turn as it comes to it.
func (l *Log) Each(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, it := range l.Entries {
			if !yield(it, nil) {
				return
			}
		}
		if len(l.View.Events) > 0 {
			return
		}
		left := l.options.Limit
		for tree, err := range l.View.ByTurn(ctx) {
			var entries []Entry
			if err == nil {
				entries, err = entriesOf(ctx, l.View, l.options, tree)
			}
			if err == nil {
				err = compare(ctx, l.View, l.options, entries)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, it := range slices.Backward(entries) {
				if left--; !yield(it, nil) || left == 0 {
					return
				}
			}
		}
	}
}

// Entries are the events to show, in the order to show them.
func Entries(ctx context.Context, v *repo.View, o LogOptions) ([]Entry, error) {
	if o.Turn > 0 {
		if _, _, err := v.TurnEvents(o.Turn); err != nil {
			return nil, err
		}
	}
	entries, err := entriesOf(ctx, v, o, "")
	if err != nil {
		return nil, err
	}
	if o.Limit > 0 && len(entries) > o.Limit {
		entries = entries[len(entries)-o.Limit:]
	}
	err = compare(ctx, v, o, entries)
	if !o.Reverse {
		slices.Reverse(entries)
	}
	return entries, err
}

func (o LogOptions) compares() bool { return o.Stat || o.Patch || len(o.Paths) > 0 }

func compare(ctx context.Context, v *repo.View, o LogOptions, entries []Entry) (err error) {
	for i := 0; i < len(entries) && o.compares() && err == nil; i++ {
		entries[i].Changes, err = changes(ctx, v, entries[i], o.Within, !o.Patch)
	}
	return err
}

// entriesOf are the entries of the events of a view, oldest first. before is the tree before the first event.
// By default it is that event's own, or for the conversation's first event that of the commit below.
func entriesOf(ctx context.Context, v *repo.View, o LogOptions, before string) ([]Entry, error) {
	if before == "" {
		before = v.Events[0].Tree
	}
	if o.compares() && v.Events[0].Seq == 0 {
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
	return entries, nil
}

// changes are an event's changes of some paths, or of all, perhaps with the number of lines.
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
