package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
)

// resolve finds the conversation that a word stands for: a full id, the end of
// one, a part of a title, "." for the session's, "-" for the one before it,
// "recent" or "newest". Without a word it is the session's. REMOTE/ID is refused:
// what was fetched can be looked at with [repo.known] and [repo.view] only.
func (r finder) resolve(ctx context.Context, e *host, word string) (conversation.ID, error) {
	if word != "" && blank(word) {
		return "", usage("%q is blank; it names no conversation.", word).hint("jp ls", "the conversations there are")
	}
	switch word {
	case "":
		id, err := r.visited(ctx, e, 0)
		if err == nil || isGone(err) {
			return id, err
		}
		return r.pick(ctx, e)
	case ".":
		return r.visited(ctx, e, 0)
	case "-":
		return r.visited(ctx, e, 1)
	}
	if id, err := conversation.ParseID(word); err == nil {
		if _, err := r.store.Head(ctx, id); !errors.Is(err, conversation.ErrNotFound) {
			return id, nil // an unreadable one is found, and said to be so when it is read
		}
	}
	for _, id := range append([]conversation.ID{conversation.ID(word)}, r.session(e).visited()...) {
		if _, err := conversation.ParseID(string(id)); err != nil || !(conversation.Info{ID: id}).EndsIn(word) || len(r.endingIn(word)) > 0 {
			continue
		}
		if f := r.gone(id); f != nil {
			return "", f
		}
	}
	if info, found, err := r.fetched(ctx, word); found || err != nil {
		return "", cmp.Or(err, lookOnly(info))
	}
	if id, found := r.named(word); found {
		return id, nil
	}
	infos, err := r.everyInfo(ctx)
	if err != nil {
		return "", err
	}
	if word == "recent" || word == "newest" {
		return newestOf(infos, word)
	}
	return match(infos, word)
}

// gone says of a conversation that is not there any more that something other than jp has
// taken its ref away, and what brings it back; nil where that is not known.
func (r finder) gone(id conversation.ID) *failure {
	last, there, err := r.store.Gone(id)
	if err != nil || last == "" {
		return nil
	}
	f := fail(exitNotFound, "not_found", "conversation %s is gone: its ref was deleted, and not by jp. Its last event is commit %s.", id, last).about(id)
	f.gone = true
	if !there {
		f.details = append(f.details, "That commit is not in this repository any more.")
		return f
	}
	return f.hint(fmt.Sprintf("git update-ref %s %s", refOf(id), last), "bring it back, before git gc deletes it").
		hint("jp doctor", "whether a setting of git deletes refs")
}

// isGone reports whether an error says that.
func isGone(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.gone
}

// named is the one local conversation whose id ends in a word.
func (r finder) named(word string) (conversation.ID, bool) {
	if found := r.endingIn(word); len(found) == 1 {
		return found[0].ID, true
	}
	return "", false // match says so, and which ones there are
}

// endingIn are the local conversations whose id ends in a word, as far as their refs can
// be listed. Of the conversations nothing is read.
func (r finder) endingIn(word string) []conversation.Info {
	live, _ := r.store.Heads(conversation.ScopeLive)
	archived, _ := r.store.Heads(conversation.ScopeArchived)
	return endingIn(append(live, archived...), word)
}

func endingIn(infos []conversation.Info, word string) (found []conversation.Info) {
	for _, i := range infos {
		if i.EndsIn(word) {
			found = append(found, i)
		}
	}
	return found
}

// visited is the n-th conversation of the session that still exists.
func (r finder) visited(ctx context.Context, e *host, n int) (conversation.ID, error) {
	visited := r.session(e).visited()
	if start := r.startsOn(); start != "" && !slices.Contains(visited, start) {
		visited = append(visited, start)
	}
	for _, id := range visited {
		if _, err := r.store.Head(ctx, id); errors.Is(err, conversation.ErrNotFound) {
			if f := r.gone(id); f != nil && n == 0 {
				return "", f.hint(`jp query --new "…"`, "start another one")
			}
			continue
		}
		if n == 0 {
			return id, nil
		}
		n--
	}
	return "", fail(exitNotFound, "not_found", "this session has no such conversation.").
		hint("jp ls", "the conversations there are").hint(`jp query "…"`, "start one")
}

// everyInfo reads what is known of all local conversations.
func (r finder) everyInfo(ctx context.Context) ([]conversation.Info, error) {
	live, err := r.store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return nil, err
	}
	archived, err := r.store.List(ctx, conversation.ScopeArchived)
	return append(live, archived...), err
}

func newestOf(infos []conversation.Info, by string) (conversation.ID, error) {
	if len(infos) == 0 {
		return "", fail(exitNotFound, "not_found", "there is no conversation yet.").hint(`jp query "…"`, "start one")
	}
	best := slices.MaxFunc(infos, func(a, b conversation.Info) int {
		if by == "newest" {
			return a.ID.Created().Compare(b.ID.Created())
		}
		return a.Summary.LastEventAt.Compare(b.Summary.LastEventAt)
	})
	return best.ID, nil
}

// match finds the one conversation whose id ends in a word, or whose title has
// it.
func match(infos []conversation.Info, word string) (conversation.ID, error) {
	info, err := matching(infos, word)
	return info.ID, err
}

func matching(infos []conversation.Info, word string) (conversation.Info, error) {
	found := endingIn(infos, word)
	if len(found) == 0 {
		found = titledLike(infos, word)
	}
	switch len(found) {
	case 0:
		return conversation.Info{}, nothingLike(infos, word)
	case 1:
		return found[0], nil
	}
	f := fail(exitNotFound, "ambiguous", "%q could be %d conversations:", word, len(found))
	for _, i := range found[:min(len(found), 10)] {
		f.hint("jp show "+i.Name(), oneLine(i.Summary.Title))
	}
	if more := len(found) - 10; more > 0 {
		f.details = append(f.details, fmt.Sprintf("The first 10 of them, and %d more:", more))
	}
	return conversation.Info{}, f
}

func titledLike(infos []conversation.Info, word string) (found []conversation.Info) {
	for _, i := range infos {
		if strings.Contains(strings.ToLower(i.Summary.Title), strings.ToLower(word)) {
			found = append(found, i)
		}
	}
	return found
}

// nothingLike says that no conversation is meant by a word, and which ones have
// nearly such an id.
func nothingLike(infos []conversation.Info, word string) *failure {
	f := fail(exitNotFound, "not_found", "no conversation matches %q.", word)
	for _, i := range infos {
		if i.Resembles(word) && len(f.hints) < 3 {
			f.hint("jp show "+i.Name(), oneLine(i.Summary.Title))
		}
	}
	return f.hint("jp ls", "the conversations there are")
}

// splitTarget takes [ID][@E] apart.
func splitTarget(word string) (target, event string) {
	target, event, _ = strings.Cut(word, "@")
	return target, event
}

// A chooser lets the user take one of some conversations, newest first. It is errNoChoice
// where the user cannot be asked, or there is none; only then candidates may be left uncalled.
type chooser func(ctx context.Context, candidates func() ([]conversation.Info, error)) (conversation.ID, error)

// errNoChoice says that no conversation could be chosen.
var errNoChoice = errors.New("no conversation can be chosen")

// pick lets the user choose a conversation; where that is not possible it says how to
// name one.
func (r finder) pick(ctx context.Context, e *host) (conversation.ID, error) {
	return r.pickFrom(ctx, e, usage("this session has no conversation yet.").
		hint("jp ls", "the conversations there are; name one by its last digits").hint(`jp query "…"`, "start one"), conversation.ScopeLive)
}

// pickFrom lets the user choose among the conversations of some scopes; none is
// the error where that is not possible, or there is nothing to choose from.
func (r finder) pickFrom(ctx context.Context, e *host, none error, scopes ...conversation.Scope) (conversation.ID, error) {
	if e.choose == nil {
		return "", none
	}
	id, err := e.choose(ctx, func() (infos []conversation.Info, err error) {
		for _, scope := range scopes {
			listed, err := r.store.List(ctx, scope)
			if err != nil {
				return nil, err
			}
			infos = append(infos, listed...)
		}
		slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
		return infos, nil
	})
	if errors.Is(err, errNoChoice) {
		err = none
	}
	return id, err
}

// A finder finds conversations and events by the words that users have for them.
type finder struct{ *repo }

func (r *repo) find() finder { return finder{r} }
