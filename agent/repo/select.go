package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process"
)

// A Selection has the conversations of a command: named ones, or those that a filter finds.
type Selection struct {
	Words    []string
	Inactive string
	Older    string
	Yes      bool
	ByID     bool                 // a part of a title is too little
	Scopes   []conversation.Scope // the scopes of filters
}

func (s *Selection) Filters() bool { return s.Inactive != "" || s.Older != "" }

// back reports whether the command brings conversations back from the archive.
func (s *Selection) back() bool {
	return slices.Equal(s.Scopes, []conversation.Scope{conversation.ScopeArchived})
}

// Find reads the heads and summaries of the conversations. Without a word and a filter it is the session's.
func (s *Selection) Find(ctx context.Context, e *Host, r *Repo) ([]conversation.Info, error) {
	if s.Filters() {
		if len(s.Words) > 0 {
			return nil, problem.Usage("name conversations, or use --inactive and --older; not both.")
		}
		return s.filtered(ctx, e, r)
	}
	words := s.Words
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
		id, err := r.Find().Resolve(ctx, e, word)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		info, err := r.Store.Info(ctx, id)
		if info.Head == "" {
			return nil, err
		}
		if s.ByID && !namesIt(word, info) {
			return nil, problem.Usage("%q is only a part of a title, of %s; what is deleted without a question is named by its id.", word, NamedInfo(info)).
				About(id).Hint(action.Remove(id.Short()), "deletes this one")
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// namesIt reports whether a word is a name of the conversation, rather than a part of
// its title.
func namesIt(word string, info conversation.Info) bool {
	return slices.Contains([]string{".", "-", "recent", "newest", string(info.ID)}, word) || info.EndsIn(word)
}

// unnamed finds the conversation of a command that names none: the session's, or the user's choice. A command
// that brings back from the archive offers archived ones.
func (s *Selection) unnamed(ctx context.Context, e *Host, r *Repo) (conversation.ID, error) {
	if !s.back() {
		return r.Find().Resolve(ctx, e, "")
	}
	if id, err := r.Find().Visited(ctx, e, 0); err == nil {
		if info, err := r.Store.Info(ctx, id); err == nil && info.Summary.ArchivedAt != nil {
			return id, nil
		}
	}
	none := problem.Usage("this session's conversation is not archived; say which one is meant.").Hint(action.ListArchived, "the archived ones")
	return r.Find().PickFrom(ctx, e, none, conversation.ScopeArchived)
}

// filtered are the conversations that all filters find. An unreadable one has no times, so filters leave it
// out. Pinned ones stay in place.
func (s *Selection) filtered(ctx context.Context, e *Host, r *Repo) ([]conversation.Info, error) {
	quiet, err := before(e, "--inactive", s.Inactive)
	if err != nil {
		return nil, err
	}
	old, err := before(e, "--older", s.Older)
	if err != nil {
		return nil, err
	}
	var infos []conversation.Info
	pinned := 0
	for _, scope := range s.Scopes {
		all, err := r.Store.List(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, i := range all {
			if i.Err == nil && r.Standings().Foreign(ctx, i) != nil {
				continue // another user's is theirs to archive
			}
			// A fork is as old as its own id, and its shared events do not count.
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
		e.Note("%s left out: what is pinned goes only where it is named.", conversation.Count(pinned, "pinned conversation"))
	}
	return infos, nil
}

// before is the condition of a filter by time: the moment is longer ago than a duration. A missing filter
// takes every moment.
func before(e *Host, flag, duration string) (func(time.Time) bool, error) {
	if duration == "" {
		return func(time.Time) bool { return true }, nil
	}
	limit, ok := ParseTime(duration, e.Now())
	if !ok || !RelativeTime().MatchString(duration) {
		return nil, NoTime(flag, duration, "a duration: 12h, 30d, 26w")
	}
	return limit.After, nil
}

// Hold takes a conversation for a change outside of turns.
func (r *Repo) Hold(ctx context.Context, e *Host, id conversation.ID) (*process.Lock, error) {
	held, err := r.tryHold(e, id)
	return held, r.Processes().Locked(ctx, e, err)
}

// tryHold is Hold. It fails with a *process.LockedError if another process holds the conversation.
func (r *Repo) tryHold(e *Host, id conversation.ID) (*process.Lock, error) {
	held, err := r.Locks.Take(id, process.Holder{PID: os.Getpid(), Started: e.Now().UTC(), Session: r.Session(e).Name})
	if IsReadOnly(err) {
		return nil, Unwritable(err)
	}
	return held, err
}

// HoldAll takes all the conversations before any of them is changed. It leaves out those in use if a filter
// found them, and fails if the user named them.
func (s *Selection) HoldAll(ctx context.Context, e *Host, r *Repo, infos []conversation.Info) (held []conversation.Info, release func(), err error) {
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
		case errors.As(err, &locked) && s.Filters():
			e.Note("%s is in use (%s) and left alone.", info.ID, locked.Holder.Name())
			continue
		case err != nil:
			release()
			return nil, func() {}, r.Processes().Locked(ctx, e, err)
		}
		locks = append(locks, lock)
		switch working := r.Locks.Working(info.ID); {
		case working && s.Filters():
			e.Note("A tool of %s still runs; it is left alone.", info.ID)
			continue
		case working:
			release()
			return nil, func() {}, problem.New(problem.ExitLocked, "locked", "a tool of %s still runs, though its jp has ended.", info.ID).About(info.ID).
				Hint(action.Kill(info.ID.Short()), "ends it")
		}
		held = append(held, info)
	}
	return held, release, nil
}

// Foreign refuses to change the summary of another user's conversation: it would no longer be theirs.
func (r Standings) Foreign(ctx context.Context, info conversation.Info) error {
	if info.Err != nil {
		return nil
	}
	_, signed, unsure := r.repo.States().signed(ctx, info)
	if unsure && !signed {
		return Partial(info)
	}
	return r.mayActOn(ctx, info, signed)
}

// Record is an event of jp's own that follows the newest one.
func Record(info conversation.Info, body conversation.Body, now time.Time) *conversation.Event {
	return &conversation.Event{
		Seq: info.Tip.Seq + 1, Turn: info.Tip.Turn, Time: now.UTC(), Version: conversation.Version, Body: body, Model: info.Tip.Model,
	}
}

// NamedInfo is a conversation as a line of a list.
func NamedInfo(info conversation.Info) string {
	line := string(info.ID)
	if title := problem.OneLine(info.Summary.Title); title != "" {
		line += fmt.Sprintf(" %q", title)
	}
	if info.Err == nil {
		line += " (" + conversation.Count(info.Summary.Events, "event") + ")"
	}
	return safetext.Clean(strings.TrimSpace(line))
}
