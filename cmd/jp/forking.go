package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/conversation"
	"jp/tool"
	"jp/turnloop"
	"jp/worktree"
)

// A forkCut is the words that say which events a fork has.
type forkCut struct {
	from, until string // E; "" for the first and the newest one
	first, last int    // turns, 0 for all
}

// A fork is a conversation that is being made out of another one's events.
type fork struct {
	*view                          // the source
	first      *conversation.Event // the first of its events that is kept
	at         *conversation.Event // the newest one
	kept       []*conversation.Event
	shares     bool // the kept events are the source's own, not copies
	adopts     bool
	checkedOut bool // a working tree was made for it
	title      string

	id     conversation.ID
	head   conversation.Head
	stream *conversation.Stream
}

// view loads what has to be known of the source: the turn of the newest event
// that is kept, and what comes behind it, where that can be told from its end.
func (c forkCut) view(ctx context.Context, r *repo, word string) (*view, error) {
	enough := reachOf(c.until)
	if c.from != "" || c.first+c.last > 0 || enough == nil {
		v, err := r.find().view(ctx, r.env, word)
		if err != nil {
			return nil, err
		}
		return v.secondView(ctx, c.until)
	}
	return r.find().viewBack(ctx, r.env, word, enough)
}

// reachOf is how far back the turn of an event lies, nil for what only the whole
// conversation can tell.
func reachOf(word string) reach {
	word = strings.TrimPrefix(word, "@")
	if word == "" {
		return func([]*conversation.Event) bool { return true }
	}
	turn, isTurn := strings.CutPrefix(word, "turn:")
	n, err := strconv.Atoi(turn)
	switch {
	case err != nil || !isTurn && len(word) >= 7: // a time, or a commit's id
		return nil
	case isTurn:
		return func(back []*conversation.Event) bool { return back[len(back)-1].Turn <= n }
	case n < 0:
		return func(back []*conversation.Event) bool { return len(back) >= -n }
	}
	return func(back []*conversation.Event) bool { return back[len(back)-1].Seq <= n }
}

// newFork finds the events to keep. It refuses a window with nothing in it, and
// what must not be added to.
func newFork(v *view, cut forkCut) (*fork, error) {
	c, err := cut.find(v)
	if err != nil {
		return nil, err
	}
	f := &fork{view: v, kept: conversation.Slice(v.events, c), shares: c.Prefix()}
	if f.first, f.at = c.Ends(v.events); !slices.ContainsFunc(f.kept, f.counts) {
		return nil, fail(exitUsage, "usage", "nothing is left of %s between %s: a turn is kept from a request on.", v.name(), cut.words()).about(v.id).hint("jp log "+v.id.Short(), "its events")
	}
	for _, ev := range f.kept {
		if ev.Opaque() {
			return nil, fail(exitDecision, "untrusted", "Event %d of %s was written by a newer jp; what comes after it cannot be added to.", ev.Seq, v.id).about(v.id).
				hint(fmt.Sprintf("jp fork %s@%d", v.id.Short(), max(0, ev.Seq-1)), "fork before it")
		}
	}
	f.stream = conversation.Join(conversation.Split(f.kept))
	f.stream.SetClock(v.repo.env.now)
	return f, nil
}

// find makes a cut of the words.
func (c forkCut) find(v *view) (conversation.Cut, error) {
	cut := conversation.Cut{First: c.first, Last: c.last}
	if c.until != "" {
		e, err := selectEvent(v.events, c.until, v.id, v.repo.env.now())
		if err != nil {
			return cut, err
		}
		cut.Until = &e.Seq
	} else if err := v.damage(nil); err != nil {
		return cut, err
	}
	if c.from != "" {
		e, err := selectFirst(v.events, c.from, v.id, v.repo.env.now())
		if err != nil {
			return cut, err
		}
		cut.From = &e.Seq
	}
	return cut, nil
}

func (c forkCut) words() string {
	at := func(word, otherwise string) string {
		if word == "" {
			return otherwise
		}
		return "@" + strings.TrimPrefix(word, "@")
	}
	return at(c.from, "its first event") + " and " + at(c.until, "its newest")
}

// counts reports whether an event is reason enough for a fork: a request, and any
// that shares what it has.
func (f *fork) counts(e *conversation.Event) bool {
	return f.shares || e.Type() == conversation.TypeChatRequest
}

// local reports whether what is kept is this user's own work.
func (f *fork) local() bool { return f.sourceStanding() == conversation.StandingOwn }

func (f *fork) sourceStanding() conversation.Standing {
	return f.standing(f.events[:slices.Index(f.events, f.at)+1], f.view.id)
}

// standing is that of events as a conversation of this repository. Where its ref was is not
// looked at: who forks says where.
func (f *fork) standing(events []*conversation.Event, id conversation.ID) conversation.Standing {
	repo, _ := f.repo.name(false) // events of a repository that cannot be named are not its own
	return conversation.StandingOf(events, conversation.Home{Repo: repo, ID: id})
}

// create makes the conversation, under an id that is free, at the place where it
// goes on. Nothing of it is there before all of it is.
func (f *fork) create(ctx context.Context, place *conversation.Git) error {
	origin := &conversation.Event{
		Body: &conversation.ForkOrigin{Conversation: f.view.id, Seq: f.at.Seq, Commit: f.at.Commit, Adopted: f.adopts, CheckedOut: f.checkedOut},
		Git:  place,
	}
	if place != nil {
		if now := moved(f.stream.Events(), *place); now != nil {
			origin.Git = now
		}
	}
	write := f.share
	if !f.shares {
		if err := f.explainDrift(ctx); err != nil {
			return err
		}
		write = f.copy
	}
	err := f.stream.Append(func(events []*conversation.Event) error { return f.take(ctx, events[0], write) }, origin)
	if err != nil {
		return err
	}
	if f.adopts {
		loop := turnloop.New(turnloop.Options{
			Journal: f.repo.store, ID: f.id, Head: f.head, Stream: f.stream, Tools: new(tool.Registry), Now: f.repo.env.now,
		})
		if err := loop.Adopt(ctx); err != nil {
			return err
		}
		f.head = loop.Head()
	}
	title, source := f.title, "user"
	if title == "" {
		title, source = f.titleCutAway(), "request"
	}
	if title == "" {
		return nil
	}
	return f.record(ctx, &conversation.Event{Body: &conversation.Metadata{Title: &title, TitleSource: source}})
}

// titleCutAway is the source's title if it came from a request that the fork does
// not have, else "".
func (f *fork) titleCutAway() string {
	if f.shares {
		return ""
	}
	was := conversation.Summarize(f.events[:slices.Index(f.events, f.at)+1]).Title
	if was == conversation.Summarize(f.stream.Events()).Title {
		return ""
	}
	return was
}

// record adds jp's own records to the fork.
func (f *fork) record(ctx context.Context, records ...*conversation.Event) error {
	return f.stream.Append(func(events []*conversation.Event) (err error) {
		f.head, err = f.repo.store.Append(ctx, f.id, f.head, events)
		return err
	}, records...)
}

// A writer of forks makes the ref under an id.
type forkWriter func(ctx context.Context, id conversation.ID, origin *conversation.Event) (conversation.Head, error)

// take writes the fork under an id that is free.
func (f *fork) take(ctx context.Context, origin *conversation.Event, write forkWriter) (err error) {
	const tries = 5
	for range tries {
		if f.id, err = conversation.NewID(f.repo.env.now(), f.repo.env.random); err != nil {
			return err
		}
		f.head, err = write(ctx, f.id, origin)
		if err == nil && f.view.remote == "" {
			f.repo.values.share(f.view.id, f.id)
		}
		if !errors.Is(err, conversation.ErrExists) {
			return err
		}
	}
	return err
}

func (f *fork) share(ctx context.Context, id conversation.ID, origin *conversation.Event) (conversation.Head, error) {
	from := f.view.id
	if f.view.remote != "" {
		from = "" // whatever has this id here is another conversation
	}
	return f.repo.store.Fork(ctx, from, conversation.Head(f.at.Commit), id, origin)
}

func (f *fork) copy(ctx context.Context, id conversation.ID, origin *conversation.Event) (conversation.Head, error) {
	if !f.local() {
		for _, e := range f.kept { // no copy is signed of what may not act
			e.Signed = false
		}
	}
	return f.repo.store.Create(ctx, id, f.base(), append(slices.Clone(f.kept), origin))
}

// base is the commit that a slice branches off: the HEAD under which the first
// of its events was recorded, if it is here.
func (f *fork) base() string {
	if f.repo.config.Snapshot.Base == "none" {
		return ""
	}
	head := ""
	for _, e := range f.events {
		if e.Git != nil && e.Git.Head != "" {
			head = e.Git.Head
		}
		if e.Seq >= f.first.Seq && head != "" {
			break
		}
	}
	if head == "" {
		return ""
	}
	if kind, _, err := f.repo.store.ReadObject(head); err != nil || kind != "commit" {
		return ""
	}
	return head
}

// absent reports whether some of what is kept beside the events is not here.
func (f *fork) absent(ctx context.Context) bool {
	for _, e := range f.kept {
		for _, p := range e.Payloads {
			if _, there, err := f.repo.store.Payload(ctx, p); !there && err == nil {
				return true
			}
		}
	}
	return false
}

// explainDrift says in the events that stand for what was cut away which files
// it changed.
func (f *fork) explainDrift(ctx context.Context) error {
	for i, e := range f.kept {
		b, ok := e.Body.(*conversation.Workspace)
		if !ok || e.Was != nil {
			continue // it is a copy, too
		}
		trees, err := f.repo.trees(ctx)
		if err != nil {
			return err
		}
		changes, err := trees.Diff(ctx, f.kept[i-1].Tree, e.Tree)
		if err != nil {
			return fmt.Errorf("compare the files of event %d: %w", e.Seq, err)
		}
		var s turnloop.Sight
		fill(&s, worktree.Snapshot{Changes: changes})
		moved := outside(s)
		b.Paths, b.More = moved.Paths, moved.More
	}
	return nil
}

// selectFirst is selectEvent for where a window begins: a turn's first event,
// the first event at or after a time.
func selectFirst(events []*conversation.Event, e string, id conversation.ID, now time.Time) (*conversation.Event, error) {
	e = strings.TrimPrefix(e, "@")
	found, err := selectEvent(events, e, id, now)
	if turn, ok := strings.CutPrefix(e, "turn:"); ok && err == nil {
		n, _ := strconv.Atoi(turn)
		for _, ev := range events {
			if ev.Turn == n {
				return ev, nil
			}
		}
	}
	since, ok := parseTime(e, now)
	if !ok || err == nil && !found.Time.Before(since) {
		return found, err // a number, or the beginning of a commit's id
	}
	for _, ev := range events {
		if !ev.Time.Before(since) {
			return ev, nil
		}
	}
	return nil, noEvent(events, e, id)
}

// behind reports whether the source has other files behind the point of the fork.
func (f *fork) behind() bool {
	events := f.view.events
	return len(events) > 0 && events[len(events)-1].Tree != f.at.Tree
}

// A forkResult is what there is beside the fork itself.
type forkResult struct {
	worktree string // its folder
	leftOut  unseen // what is not in it, or not as it was then

	unconverted []unconverted // files of it that need a filter, or content of LFS
	files       []fileResult
}
