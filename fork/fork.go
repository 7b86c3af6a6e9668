package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/internal/action"
	"jp/tool"
	"jp/turnloop"
	"jp/worktree"
)

// A ForkCut is the words that say which events a fork has.
type ForkCut struct {
	From, Until string // E; "" for the first and the newest one
	First, Last int    // turns, 0 for all
	Alone       bool   // the view may lack the events behind the newest kept one
	Detached    bool   // copies of the events, without the commits of the user's below them
}

// A Fork is a conversation that is being made out of another one's events.
type Fork struct {
	View       *repo.View          // the source
	First      *conversation.Event // the first of its events that is kept
	At         *conversation.Event // the newest one
	Kept       []*conversation.Event
	Shares     bool // the kept events are the source's own instead of copies
	Adopts     bool
	checkedOut bool // a working tree was made for it
	detached   bool // its first event has no parent
	Title      string

	ID     conversation.ID
	Head   conversation.Head
	Stream *conversation.Stream
}

// View loads the necessary part of the source: the turn of the newest kept event, and the later ones, if the
// end of the source is enough to find it.
func (c ForkCut) View(ctx context.Context, r *repo.Repo, word string) (*repo.View, error) {
	enough := reachOf(c.Until)
	var v *repo.View
	var err error
	switch {
	case c.From != "" || c.First+c.Last > 0 || enough == nil:
		if v, err = r.Find().View(ctx, r.Env, word); err == nil {
			return v.SecondView(ctx, c.Until)
		}
	case c.Alone:
		v, err = r.Find().ViewKept(ctx, r.Env, word, c.Until, enough)
	default:
		v, err = r.Find().ViewBack(ctx, r.Env, word, enough)
	}
	var f *problem.Error
	if errors.As(err, &f) {
		for i, h := range f.Hints { // a number that is no conversation
			if h.Action.String() == action.ShowEvent(word).String() {
				f.Hints[i] = problem.Hint{Action: action.ForkAt("", word), Text: "fork at " + h.Text}
			}
		}
	}
	return v, err
}

// reachOf is how far back the turn of an event lies, nil if only the whole conversation can tell.
func reachOf(word string) repo.Reach {
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

// New finds the events to keep. It refuses an empty window, and a source that must not grow.
func New(v *repo.View, cut ForkCut) (*Fork, error) {
	c, err := cut.find(v)
	if err != nil {
		return nil, err
	}
	f := &Fork{View: v, Kept: conversation.Select(v.Events, c), Shares: c.Prefix() && !cut.Detached, detached: cut.Detached}
	if f.First, f.At = c.Ends(v.Events); !slices.ContainsFunc(f.Kept, f.counts) {
		at := func(word, otherwise string) string {
			if word == "" {
				return otherwise
			}
			return "@" + strings.TrimPrefix(word, "@")
		}
		return nil, problem.New(problem.ExitUsage, "usage", "nothing is left of %s between %s: a turn is kept from a request on.", v.Name(), at(cut.From, "its first event")+" and "+at(cut.Until, "its newest")).About(v.ID).Hint(action.Log(v.ID.Short()), "its events")
	}
	for _, ev := range f.Kept {
		if ev.Opaque() {
			return nil, problem.New(problem.ExitDecision, "untrusted", "Event %d of %s was written by a newer jp; what comes after it cannot be added to.", ev.Seq, v.ID).About(v.ID).
				Hint(action.ForkAt(v.ID.Short(), problem.Itoa(max(0, ev.Seq-1))), "fork before it")
		}
	}
	f.Stream = conversation.JoinTail(conversation.SplitTail(f.Kept))
	f.Stream.SetClock(v.Repo.Env.Now)
	return f, nil
}

// find makes a cut of the words.
func (c ForkCut) find(v *repo.View) (conversation.Range, error) {
	cut := conversation.Range{First: c.First, Last: c.Last}
	if c.Until != "" {
		e, err := repo.SelectEvent(v.Events, c.Until, v.ID, v.Repo.Env.Now())
		if err != nil {
			return cut, err
		}
		cut.Until = &e.Seq
	} else if err := v.Damage(nil); err != nil {
		return cut, err
	}
	if c.From != "" {
		e, err := selectFirst(v.Events, c.From, v.ID, v.Repo.Env.Now())
		if err != nil {
			return cut, err
		}
		cut.From = &e.Seq
	}
	return cut, nil
}

// counts reports whether an event is reason enough for a fork: a request, or any event if the fork shares its
// events.
func (f *Fork) counts(e *conversation.Event) bool {
	return f.Shares || e.Type() == conversation.TypeChatRequest
}

// Local reports whether the kept events are this user's own work.
func (f *Fork) Local() bool { return f.SourceStanding() == conversation.StandingOwn }

func (f *Fork) SourceStanding() conversation.Standing {
	return f.Standing(f.View.Events[:slices.Index(f.View.Events, f.At)+1], f.writtenFor())
}

// writtenFor is the conversation for which the event of the fork was written: the source, or the
// one with which the source says that it shares the event. Only the user's own source is believed.
func (f *Fork) writtenFor() conversation.ID {
	id := f.View.ID
	if f.Standing(f.View.NewestTurn(), id) != conversation.StandingOwn {
		return id
	}
	for _, e := range slices.Backward(f.View.Events) {
		if e.Seq <= f.At.Seq {
			break
		}
		if origin, is := e.Body.(*conversation.ForkOrigin); is && e.Signed {
			id = cmp.Or(origin.WrittenFor, origin.Conversation)
		}
	}
	return id
}

// Standing is that of events as a conversation of this repository. It ignores the earlier place of a ref: the
// forking user chooses it.
func (f *Fork) Standing(events []*conversation.Event, id conversation.ID) conversation.Standing {
	repo, _ := f.View.Repo.Standings().Name(false) // events of a repository without a name are foreign to it
	return conversation.StandingOf(events, conversation.Home{Repo: repo, ID: id})
}

// Create makes the conversation, under an id that is free, at its working tree. It appears as a whole.
func (f *Fork) Create(ctx context.Context, place *conversation.Git) error {
	body := &conversation.ForkOrigin{Conversation: f.View.ID, Seq: f.At.Seq, Commit: f.At.Commit, Adopted: f.Adopts, CheckedOut: f.checkedOut}
	if id := f.writtenFor(); id != f.View.ID {
		body.WrittenFor = id
	}
	origin := &conversation.Event{Body: body, Git: place}
	if place != nil {
		if now := repo.Moved(f.Stream.Events(), *place); now != nil {
			origin.Git = now
		}
	}
	write := f.share
	if !f.Shares {
		if err := f.explainDrift(ctx); err != nil {
			return err
		}
		write = f.copy
	}
	err := f.Stream.Append(func(events []*conversation.Event) error {
		var err error
		const tries = 5
		for range tries {
			if f.ID, err = conversation.NewID(f.View.Repo.Env.Now(), f.View.Repo.Env.Random); err != nil {
				return err
			}
			f.Head, err = write(ctx, f.ID, events[0])
			if err == nil && f.View.Remote == "" {
				f.View.Repo.Values.Share(f.View.ID, f.ID)
			}
			if !errors.Is(err, conversation.ErrExists) {
				return err
			}
		}
		return err
	}, origin)
	if err != nil {
		return err
	}
	if f.Adopts {
		loop := turnloop.New(turnloop.Options{
			Conversation: turnloop.ConversationOptions{
				Journal: f.View.Repo.Store,
				ID:      f.ID,
				Head:    f.Head,
				Stream:  f.Stream,
			},
			Tools: turnloop.ToolOptions{
				Registry: new(tool.Registry),
			},
			Clock: turnloop.Clock{
				Now: f.View.Repo.Env.Now,
			},
		})
		if err := loop.Adopt(ctx); err != nil {
			return err
		}
		f.Head = loop.Head()
	}
	title, source := f.Title, "user"
	if title == "" {
		title, source = f.titleCutAway(), "request"
	}
	if title == "" {
		return nil
	}
	return f.Record(ctx, &conversation.Event{Body: &conversation.Metadata{Title: &title, TitleSource: source}})
}

// titleCutAway is the source's title if it came from a request that the fork lacks, else "".
func (f *Fork) titleCutAway() string {
	if f.Shares {
		return ""
	}
	was := conversation.Summarize(f.View.Events[:slices.Index(f.View.Events, f.At)+1]).Title
	if was == conversation.Summarize(f.Stream.Events()).Title {
		return ""
	}
	return was
}

// Record adds jp's own records to the fork.
func (f *Fork) Record(ctx context.Context, records ...*conversation.Event) error {
	return f.Stream.Append(func(events []*conversation.Event) (err error) {
		f.Head, err = f.View.Repo.Store.Append(ctx, f.ID, f.Head, events)
		return err
	}, records...)
}

func (f *Fork) share(ctx context.Context, id conversation.ID, origin *conversation.Event) (conversation.Head, error) {
	from := f.View.ID
	if f.View.Remote != "" {
		from = "" // the conversation with this id here is another one
	}
	return f.View.Repo.Store.Fork(ctx, from, conversation.Head(f.At.Commit), id, origin)
}

func (f *Fork) copy(ctx context.Context, id conversation.ID, origin *conversation.Event) (conversation.Head, error) {
	if !f.Local() {
		for _, e := range f.Kept { // copies of foreign events stay unsigned
			e.Signed = false
		}
	}
	return f.View.Repo.Store.Create(ctx, id, f.base(), append(slices.Clone(f.Kept), origin))
}

// base is the commit that a slice branches off: the HEAD under which the first
// of its events was recorded, if it is here.
func (f *Fork) base() string {
	if f.detached || f.View.Repo.Config.Snapshot.Base == "none" {
		return ""
	}
	head := ""
	for _, e := range f.View.Events {
		if e.Git != nil && e.Git.Head != "" {
			head = e.Git.Head
		}
		if e.Seq >= f.First.Seq && head != "" {
			break
		}
	}
	if head == "" {
		return ""
	}
	if kind, _, err := f.View.Repo.Store.ReadObject(head); err != nil || kind != "commit" {
		return ""
	}
	return head
}

// Absent reports whether this repository lacks payloads of the events.
func (f *Fork) Absent(ctx context.Context) bool {
	for _, e := range f.Kept {
		for _, p := range e.Payloads {
			if _, there, err := f.View.Repo.Store.Payload(ctx, p); !there && err == nil {
				return true
			}
		}
	}
	return false
}

// explainDrift lists the changed files in the events that stand for the cut ones.
func (f *Fork) explainDrift(ctx context.Context) error {
	for i, e := range f.Kept {
		b, ok := e.Body.(*conversation.Workspace)
		if !ok || e.Was != nil {
			continue // it is a copy, too
		}
		patches, err := f.View.Repo.Patches(ctx)
		if err != nil {
			return err
		}
		changes, err := patches.Diff(ctx, f.Kept[i-1].Tree, e.Tree)
		if err != nil {
			return fmt.Errorf("compare the files of event %d: %w", e.Seq, err)
		}
		var s turnloop.SnapshotResult
		snapshot.Fill(&s, worktree.Snapshot{Changes: changes})
		moved := repo.Outside(s)
		b.Paths, b.More = moved.Paths, moved.More
	}
	return nil
}

// selectFirst is selectEvent for the start of a window: a turn's first event, or the first event at or after
// a time.
func selectFirst(events []*conversation.Event, e string, id conversation.ID, now time.Time) (*conversation.Event, error) {
	e = strings.TrimPrefix(e, "@")
	found, err := repo.SelectEvent(events, e, id, now)
	if turn, ok := strings.CutPrefix(e, "turn:"); ok && err == nil {
		n, _ := strconv.Atoi(turn)
		for _, ev := range events {
			if ev.Turn == n {
				return ev, nil
			}
		}
	}
	since, ok := repo.ParseTime(e, now)
	if !ok || err == nil && !found.Time.Before(since) {
		return found, err // a number, or the beginning of a commit's id
	}
	for _, ev := range events {
		if !ev.Time.Before(since) {
			return ev, nil
		}
	}
	return nil, repo.NoEvent(events, e, id)
}

// Behind reports whether the source has other files behind the point of the fork.
func (f *Fork) Behind() bool { return f.View.Newest().Tree != f.At.Tree }

// A ForkResult describes everything beside the fork itself.
type ForkResult struct {
	Worktree string          // its folder
	LeftOut  snapshot.Unseen // files that it lacks, or has in another state

	Unconverted []unconverted // files of it that need a filter, or content of LFS
	Sparse      int           // files of its commit that the sparse checkout leaves out
	Files       []repo.FileResult
}
