package repo

import (
	"context"
	"errors"
	"iter"
	"slices"

	"jp/conversation"
	"jp/gitstore"
	"jp/worktree"
)

// A View is a conversation that is being looked at.
type View struct {
	Repo    *Repo
	ID      conversation.ID
	Remote  string // that it was fetched from, "" for a local one
	Head    conversation.Head
	Events  []*conversation.Event // from some turn on, up to the newest
	Tail    *conversation.IncompleteTurn
	Working map[int]string        // words about open calls that have a conversation of their own, by seq
	Waits   conversation.Status   // the state of the incomplete turn, perhaps of a delegate; "" before the search
	Broken  *gitstore.DamageError // the events end before it
	lost    []gitstore.Lost       // lost payloads; nil before the search
	later   *laterEvents          // nil for a view up to the newest event
	forward bool                  // it has only the end, and Forward reads from the start
	origins []*conversation.Event // the fork_origin events; nil before the search
}

// View loads the conversation that a word stands for. Of a damaged one it has
// the events before the damage.
func (r Finder) View(ctx context.Context, e *Host, word string) (*View, error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return nil, err
	}
	return v.whole(ctx)
}

// Outline is View with only the beginnings of answers and results.
func (r Finder) Outline(ctx context.Context, e *Host, word string) (*View, error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return nil, err
	}
	return v.loaded(v.Repo.Store.LoadOutline(ctx, v.Head))
}

// ViewEvent is the event that a word names, and its conversation from before that event on.
func (r Finder) ViewEvent(ctx context.Context, e *Host, word string) (*View, *conversation.Event, error) {
	target, event := SplitTarget(word)
	v, err := r.open(ctx, e, target)
	if err != nil {
		return nil, nil, err
	}
	if words := v.loadPart(ctx, event); words != nil {
		return v.selects(ctx, e, words[0])
	}
	if v, err = v.back(ctx, reachOf(event, e.Now())); err != nil {
		return nil, nil, err
	}
	return v.selects(ctx, e, event)
}

// selects finds an event. If a view begins late, it loads all events before it reports a missing one.
func (v *View) selects(ctx context.Context, e *Host, event string) (*View, *conversation.Event, error) {
	at, err := SelectEvent(v.Events, event, v.ID, e.Now())
	if err != nil && v.Events[0].Seq > 0 {
		if v, err = v.whole(ctx); err != nil {
			return nil, nil, err
		}
		at, err = SelectEvent(v.Events, event, v.ID, e.Now())
	}
	if err != nil && v.Broken != nil {
		return v, nil, v.Damage(nil) // it may be one of the unreadable ones
	}
	return v, at, err
}

// ViewAt is View for words that may also name an event of the conversation. The event is nil if they name none.
func (r Finder) ViewAt(ctx context.Context, e *Host, word string) (v *View, at *conversation.Event, err error) {
	target, event := SplitTarget(word)
	if v, err = r.View(ctx, e, target); err != nil || event == "" {
		return v, nil, err
	}
	return v.selects(ctx, e, event)
}

// A Reach says whether a view goes back far enough. It is asked at the start of
// each turn, the newest first, with the events from there on, newest first.
type Reach func(back []*conversation.Event) bool

// ViewBack loads only the needed end of a conversation, or all if enough is nil.
func (r Finder) ViewBack(ctx context.Context, e *Host, word string, enough Reach) (*View, error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return nil, err
	}
	return v.back(ctx, enough)
}

// ViewByTurn finds a conversation for [View.ByTurn], without reading its events.
func (r Finder) ViewByTurn(ctx context.Context, e *Host, word string) (*View, error) {
	return r.open(ctx, e, word)
}

// ByTurn gives the view the events of one turn after the other, the newest first, and yields the
// tree that each turn found, "" for the first one. Behind damage, it goes on with the turns that
// are readable from the start.
func (v *View) ByTurn(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(tree string, err error) bool) {
		newest := *v
		var back []*conversation.Event
		turn := func(tree string) bool {
			v.Events = slices.Clone(back)
			slices.Reverse(v.Events)
			if back = back[:0]; v.later == nil {
				newest.Events = v.Events
				_, newest.Tail = conversation.SplitTail(v.Events)
				v.Tail, v.later = newest.Tail, &laterEvents{newest: v.Newest(), turn: func() *View { return &newest }}
			}
			return yield(tree, nil)
		}
		next := func(ev *conversation.Event) bool {
			if n := len(back); n > 0 && back[n-1].Type() == conversation.TypeTurnStart && !turn(ev.Tree) {
				return false
			}
			back = append(back, ev)
			return true
		}
		for ev, err := range v.Repo.Store.Backward(ctx, v.Head) {
			if err != nil {
				whole := &View{Repo: v.Repo, ID: v.ID, Remote: v.Remote, Head: v.Head}
				if whole, err = whole.whole(ctx); err != nil {
					yield("", err)
					return
				}
				v.Broken, v.Tail, back = whole.Broken, whole.Tail, back[:0]
				for _, ev := range slices.Backward(whole.Events) {
					if !next(ev) {
						return
					}
				}
				break
			}
			if !next(ev) {
				return
			}
		}
		turn("")
	}
}

// ViewForward finds a conversation for [View.Forward]. It has the end: some 256 events, or the
// newest turn if that is longer. Of a shorter conversation, or one that is damaged there, it has
// all.
func (r Finder) ViewForward(ctx context.Context, e *Host, word string) (*View, error) {
	v, err := r.ViewBack(ctx, e, word, func(back []*conversation.Event) bool { return len(back) >= heldAtEnd })
	if err == nil && v.Events[0].Seq > 0 {
		newest := *v
		v.forward, v.later = true, &laterEvents{newest: v.Newest(), turn: func() *View { return &newest }}
	}
	return v, err
}

// heldAtEnd is how many events a view that goes forward has of the end.
const heldAtEnd = 256

// Forward yields the events of one turn after the other, the oldest first, and gives them to the
// view. If the view has all events, it yields these at once. Behind damage it ends, and the view
// is Broken.
func (v *View) Forward(ctx context.Context) iter.Seq2[[]*conversation.Event, error] {
	return func(yield func([]*conversation.Event, error) bool) {
		if !v.forward {
			yield(v.Events, nil)
			return
		}
		done := 0
		var turn []*conversation.Event
		part := func(events []*conversation.Event) bool {
			done += len(events)
			v.Events, turn = events, nil
			return len(events) == 0 || yield(events, nil)
		}
		for ev, err := range v.Repo.Store.Forward(ctx, v.info()) {
			if err != nil {
				whole := &View{Repo: v.Repo, ID: v.ID, Remote: v.Remote, Head: v.Head}
				if whole, err = whole.whole(ctx); err != nil {
					yield(nil, err)
					return
				}
				v.Broken, v.Tail, v.later = whole.Broken, whole.Tail, &laterEvents{newest: whole.Newest(), turn: func() *View { return whole }}
				turn = whole.Events[min(done, len(whole.Events)):]
				break
			}
			if ev.Type() == conversation.TypeTurnStart && !part(turn) {
				return
			}
			turn = append(turn, ev)
		}
		part(turn)
	}
}

// back loads the end of the conversation, all of it if enough is nil.
func (v *View) back(ctx context.Context, enough Reach) (*View, error) {
	if enough == nil {
		return v.whole(ctx)
	}
	for ev, err := range v.Repo.Store.Backward(ctx, v.Head) {
		if err != nil { // the damage is found from the start
			v.Events = nil
			return v.whole(ctx)
		}
		v.Events = append(v.Events, ev)
		if ev.Type() == conversation.TypeTurnStart && enough(v.Events) {
			break
		}
	}
	slices.Reverse(v.Events)
	_, v.Tail = conversation.SplitTail(v.Events)
	return v, nil
}

func (r Finder) open(ctx context.Context, e *Host, word string) (*View, error) {
	v := &View{Repo: r.repo}
	info, found, err := r.fetched(ctx, word)
	if found || err != nil {
		v.ID, v.Remote, v.Head = info.ID, info.Remote, info.Head
		return v, err
	}
	if v.ID, err = r.Resolve(ctx, e, word); err != nil {
		return nil, err
	}
	v.Head, err = r.repo.Store.Head(ctx, v.ID)
	return v, err
}

func (v *View) whole(ctx context.Context) (*View, error) {
	return v.loaded(v.Repo.Store.Load(ctx, v.Head))
}

// loaded has all events, or those before damage.
func (v *View) loaded(events []*conversation.Event, err error) (*View, error) {
	v.later, v.Events = nil, events
	if err != nil && (!errors.As(err, &v.Broken) || len(v.Events) == 0) {
		return nil, AboutInfo(err, conversation.Info{ID: v.ID, Remote: v.Remote})
	}
	_, v.Tail = conversation.SplitTail(v.Events)
	return v, nil
}

// StrippedMessages are the commit messages at the end of a conversation whose headers
// another program removed.
func (r Finder) StrippedMessages(ctx context.Context, e *Host, word string) (name string, messages []gitstore.StrippedMessage, err error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return "", nil, err
	}
	return v.Name(), gitstore.StrippedMessages(ctx, r.repo.Store.ReadObject, v.Head), nil
}

// Name is the conversation's name on the command line.
func (v *View) Name() string { return conversation.Info{ID: v.ID, Remote: v.Remote}.Name() }

// Damage adds to the error of a command that the conversation is damaged.
func (v *View) Damage(err error) error {
	if err != nil || v.Broken == nil {
		return err
	}
	return AboutInfo(v.Broken, conversation.Info{ID: v.ID, Remote: v.Remote})
}

// Incomplete reports whether an event belongs to the incomplete turn.
func (v *View) Incomplete(e *conversation.Event) bool {
	if v.later != nil && v.Tail == nil && e.Turn == v.later.newest.Turn {
		v.Tail = v.later.turn().Tail
	}
	return v.Tail != nil && !v.Tail.Empty() && e.Seq >= v.Tail.First()
}

// Patches shows differences between trees, as git does.
func (r *Repo) Patches(ctx context.Context) (*worktree.Worktree, error) {
	return worktree.Open(ctx, r.At, worktree.Options{Git: r.Env.GitOptions(), Trees: r.Trees, Rules: r.Rules, Key: r.StateDir().Key})
}
