package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/process"
)

// A change is what a command did to a conversation, for programs.
type change struct {
	Action       string          `json:"action"`
	Conversation conversation.ID `json:"conversation"`
	Files        []fileResult    `json:"files"` // none but those of undo and restore
}

func changed(action string, id conversation.ID) change { return change{action, id, []fileResult{}} }

// A selection says which conversations a command is about: those that are named,
// or those that a filter finds.
type selection struct {
	words    []string
	inactive string
	older    string
	yes      bool
	byID     bool                 // a part of a title is not enough
	scopes   []conversation.Scope // where filters look
}

func (s *selection) flags(f *pflag.FlagSet) {
	f.StringVar(&s.inactive, "inactive", "", "all without an event in the last `DURATION`, such as 30d")
	f.StringVar(&s.older, "older", "", "all that began longer ago than `DURATION`, such as 180d")
	f.BoolVarP(&s.yes, "yes", "y", false, "do it without asking")
}

func (s *selection) filters() bool { return s.inactive != "" || s.older != "" }

// back reports whether the conversations are to come back from the archive.
func (s *selection) back() bool {
	return slices.Equal(s.scopes, []conversation.Scope{conversation.ScopeArchived})
}

// find reads what is known of the conversations. Without a word and a filter it
// is the session's.
func (s *selection) find(ctx context.Context, e *host, r *repo) ([]conversation.Info, error) {
	if s.filters() {
		if len(s.words) > 0 {
			return nil, usage("name conversations, or use --inactive and --older; not both.")
		}
		return s.filtered(ctx, e, r)
	}
	words := s.words
	if len(words) == 0 {
		id, err := s.unnamed(ctx, e, r)
		if err != nil {
			return nil, err
		}
		words = []string{string(id)}
	}
	var infos []conversation.Info
	seen := map[conversation.ID]bool{}
	for _, word := range words {
		id, err := r.find().resolve(ctx, e, word)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		info, err := r.store.Info(ctx, id)
		if info.Head == "" {
			return nil, err
		}
		if s.byID && !namesIt(word, info) {
			return nil, usage("%q is only a part of a title, of %s; what is deleted without a question is named by its id.", word, namedInfo(info)).
				about(id).hint("jp rm -y "+id.Short(), "deletes this one")
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// namesIt reports whether a word says which conversation is meant by itself, and
// not by what stands in its title.
func namesIt(word string, info conversation.Info) bool {
	return slices.Contains([]string{".", "-", "recent", "newest", string(info.ID)}, word) || info.EndsIn(word)
}

// unnamed finds the conversation where none is named: the session's, or the one
// that the user chooses. One that is to be brought back from the archive is
// chosen from there.
func (s *selection) unnamed(ctx context.Context, e *host, r *repo) (conversation.ID, error) {
	if !s.back() {
		return r.find().resolve(ctx, e, "")
	}
	if id, err := r.find().visited(ctx, e, 0); err == nil {
		if info, err := r.store.Info(ctx, id); err == nil && info.Summary.ArchivedAt != nil {
			return id, nil
		}
	}
	none := usage("this session's conversation is not archived; say which one is meant.").hint("jp ls --archived", "the archived ones")
	return r.find().pickFrom(ctx, e, none, conversation.ScopeArchived)
}

// filtered are the conversations that all filters find. One that cannot be read
// has no times, and none finds it. What is pinned is to stay where it is.
func (s *selection) filtered(ctx context.Context, e *host, r *repo) ([]conversation.Info, error) {
	quiet, err := before(e, "--inactive", s.inactive)
	if err != nil {
		return nil, err
	}
	old, err := before(e, "--older", s.older)
	if err != nil {
		return nil, err
	}
	var infos []conversation.Info
	pinned := 0
	for _, scope := range s.scopes {
		all, err := r.store.List(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, i := range all {
			if i.Err == nil && r.standings().foreign(ctx, i) != nil {
				continue // somebody else's is theirs to put away
			}
			// A fork is as old as its own id, not as the events that it shares.
			if i.Err != nil || !quiet(i.Summary.LastEventAt) || !old(i.ID.Created()) {
				continue
			}
			if i.Summary.PinnedAt != nil && !s.back() {
				pinned++
				continue
			}
			infos = append(infos, i)
		}
	}
	if pinned > 0 {
		e.note("%s left out: what is pinned goes only where it is named.", conversation.Count(pinned, "pinned conversation"))
	}
	return infos, nil
}

// before is what a filter by time wants of a moment: to lie longer ago than a
// duration. A filter that was not given takes every moment.
func before(e *host, flag, duration string) (func(time.Time) bool, error) {
	if duration == "" {
		return func(time.Time) bool { return true }, nil
	}
	limit, ok := parseTime(duration, e.now())
	if !ok || !relativeTime().MatchString(duration) {
		return nil, noTime(flag, duration, "a duration: 12h, 30d, 26w")
	}
	return limit.After, nil
}

// hold takes a conversation for a change that needs no turn.
func (r *repo) hold(ctx context.Context, e *host, id conversation.ID) (*process.Lock, error) {
	held, err := r.tryHold(e, id)
	return held, r.processes().locked(ctx, e, err)
}

// tryHold is hold, with a *process.LockedError where another process was first.
func (r *repo) tryHold(e *host, id conversation.ID) (*process.Lock, error) {
	held, err := r.locks.Take(id, process.Holder{PID: pid(), Started: e.now().UTC(), Session: r.session(e).name})
	if isReadOnly(err) {
		return nil, unwritable(err)
	}
	return held, err
}

// holdAll takes all the conversations before any of them is changed. Those that
// are in use are left out where a filter found them, and an error where the user
// named them.
func (s *selection) holdAll(ctx context.Context, e *host, r *repo, infos []conversation.Info) (held []conversation.Info, release func(), err error) {
	var locks []*process.Lock
	release = func() {
		for _, l := range locks {
			l.Release()
		}
	}
	for _, info := range infos {
		lock, err := r.tryHold(e, info.ID)
		var locked *process.LockedError
		switch {
		case errors.As(err, &locked) && s.filters():
			e.note("%s is in use (%s) and left alone.", info.ID, locked.Holder.Name())
			continue
		case err != nil:
			release()
			return nil, func() {}, r.processes().locked(ctx, e, err)
		}
		locks = append(locks, lock)
		switch working := r.locks.Working(info.ID); {
		case working && s.filters():
			e.note("A tool of %s still runs; it is left alone.", info.ID)
			continue
		case working:
			release()
			return nil, func() {}, fail(exitLocked, "locked", "a tool of %s still runs, though its jp has ended.", info.ID).about(info.ID).
				hint("jp kill "+info.ID.Short(), "ends it")
		}
		held = append(held, info)
	}
	return held, release, nil
}

// foreign refuses to change what is known of somebody else's conversation: it
// would no longer be theirs.
func (r standings) foreign(ctx context.Context, info conversation.Info) error {
	if info.Err != nil {
		return nil
	}
	signed, unsure := r.states().signed(ctx, info)
	if unsure && !signed {
		return partial(info)
	}
	return r.mayActOn(ctx, info, signed)
}

// record is an event of jp's own that follows the newest one.
func record(info conversation.Info, body conversation.Body, now time.Time) *conversation.Event {
	return &conversation.Event{
		Seq: info.Tip.Seq + 1, Turn: info.Tip.Turn, Time: now.UTC(), Version: conversation.Version, Body: body, Model: info.Tip.Model,
	}
}

// namedInfo is a conversation as a line of a list.
func namedInfo(info conversation.Info) string {
	line := string(info.ID)
	if title := oneLine(info.Summary.Title); title != "" {
		line += fmt.Sprintf(" %q", title)
	}
	if info.Err == nil {
		line += " (" + conversation.Count(info.Summary.Events, "event") + ")"
	}
	return safetext.Clean(strings.TrimSpace(line))
}
