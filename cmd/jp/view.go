package main

import (
	"context"
	"errors"
	"slices"

	"jp/conversation"
	"jp/gitstore"
	"jp/worktree"
)

// A view is a conversation that is being looked at.
type view struct {
	repo    *repo
	id      conversation.ID
	remote  string // that it was fetched from, "" for a local one
	head    conversation.Head
	events  []*conversation.Event // from some turn on, up to the newest
	tail    *conversation.IncompleteTurn
	working map[int]string        // what is to be said of open calls that work in a conversation of their own, by seq
	waits   conversation.Status   // what the incomplete turn waits for, perhaps for a delegate; "" where that was not looked for
	broken  *gitstore.DamageError // the events end before it
	lost    []gitstore.Lost       // payloads that are lost; nil: not looked for
}

// view loads the conversation that a word stands for. Of a damaged one it has
// the events before the damage.
func (r finder) view(ctx context.Context, e *host, word string) (*view, error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return nil, err
	}
	return v.whole(ctx)
}

// A reach says whether a view goes back far enough. It is asked at the start of
// each turn, the newest first, with the events from there on, newest first.
type reach func(back []*conversation.Event) bool

// viewBack loads no more of a conversation's end than is needed.
func (r finder) viewBack(ctx context.Context, e *host, word string, enough reach) (*view, error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return nil, err
	}
	for ev, err := range r.store.Back(ctx, v.head) {
		if err != nil { // what is damaged, and where, is found from the start
			v.events = nil
			return v.whole(ctx)
		}
		v.events = append(v.events, ev)
		if ev.Type() == conversation.TypeTurnStart && enough(v.events) {
			break
		}
	}
	slices.Reverse(v.events)
	_, v.tail = conversation.Split(v.events)
	return v, nil
}

// open finds the conversation that a word stands for.
func (r finder) open(ctx context.Context, e *host, word string) (*view, error) {
	v := &view{repo: r.repo}
	info, found, err := r.fetched(ctx, word)
	if found || err != nil {
		v.id, v.remote, v.head = info.ID, info.Remote, info.Head
		return v, err
	}
	if v.id, err = r.resolve(ctx, e, word); err != nil {
		return nil, err
	}
	v.head, err = r.store.Head(ctx, v.id)
	return v, err
}

// whole loads all events.
func (v *view) whole(ctx context.Context) (_ *view, err error) {
	v.events, err = v.repo.store.Load(ctx, v.head)
	if err != nil && (!errors.As(err, &v.broken) || len(v.events) == 0) {
		return nil, aboutInfo(err, conversation.Info{ID: v.id, Remote: v.remote})
	}
	_, v.tail = conversation.Split(v.events)
	return v, nil
}

// name is what the conversation is called on the command line.
func (v *view) name() string { return conversation.Info{ID: v.id, Remote: v.remote}.Name() }

// damage adds to the end of a command that the conversation is damaged.
func (v *view) damage(err error) error {
	if err != nil || v.broken == nil {
		return err
	}
	return aboutConversation(v.broken, v.id)
}

// incomplete reports whether an event belongs to the incomplete turn.
func (v *view) incomplete(e *conversation.Event) bool {
	return v.tail != nil && !v.tail.Empty() && e.Seq >= v.tail.First()
}

// trees compares trees; it works without files, too.
func (r *repo) trees(ctx context.Context) (*worktree.Worktree, error) {
	return worktree.Open(ctx, r.Repository, worktree.Options{Git: r.env.gitOptions()})
}

// here is where the working tree stands, nil where there is none.
func (r *repo) here(ctx context.Context) (*conversation.Git, error) {
	files, err := r.openFiles(ctx)
	if err != nil {
		return nil, err
	}
	return files.place(ctx)
}
