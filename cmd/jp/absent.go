package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/safetext"
)

// Large texts stand beside the events and may be missing where these are not: they were
// not fetched, or somebody has dropped them. What there is then is the beginning.

// rest says that the end of an event's text is not here, and what may bring it; it is ""
// where the text is whole.
func (v *view) rest(e *conversation.Event) string {
	missing := e.Missing()
	if missing == 0 {
		return ""
	}
	size := byteCount(int(missing))
	if v.remote == "" {
		if v.lost == nil {
			v.lost, _ = v.repo.store.LostOf(v.id, v.events) // jp verify tells of an error
			v.lost = append([]gitstore.Lost{}, v.lost...)
		}
		if slices.ContainsFunc(v.lost, func(l gitstore.Lost) bool { return l.Event.Seq == e.Seq }) {
			return fmt.Sprintf("… the rest (%s) is lost: it was in this repository only, and is damaged here", size)
		}
	}
	return fmt.Sprintf("… the rest (%s) is not here%s", size, v.repo.broughtBy(v.source(e), v.remote))
}

// source is the conversation whose payload a remote has of an event: the view's own, or
// one that it was forked from.
func (v *view) source(of *conversation.Event) conversation.ID {
	if v.remote != "" {
		return v.id
	}
	ids := []conversation.ID{}
	for _, e := range v.events {
		if origin, is := e.Body.(*conversation.ForkOrigin); is && e.Seq > of.Seq {
			ids = append(ids, origin.Conversation)
		}
	}
	for _, id := range ids {
		if remotes, err := v.repo.store.RemotesWith(id); err == nil && len(remotes) > 0 {
			return id
		}
	}
	return v.id
}

// broughtBy is what may bring absent texts of a conversation, behind what says so; "" where
// no remote is known to have it. remote is that it was fetched from, "" for one here.
func (r *repo) broughtBy(id conversation.ID, remote string) string {
	if command := r.fetchTexts(id, remote); command != "" {
		return "; " + command + "   may bring more"
	}
	return ""
}

// fetchTexts fetches what stands beside the events of one conversation into the namespace
// of the remote, whatever the user's configuration says of pruning; "" where no remote is
// known to have it.
func (r *repo) fetchTexts(id conversation.ID, remote string) string {
	if remote == "" {
		remotes, err := r.store.RemotesWith(id)
		if err != nil || len(remotes) == 0 {
			return ""
		}
		remote = remotes[0]
	}
	there, here := gitstore.PayloadRefs(remote, id)
	command := "git fetch --no-prune --no-tags "
	if r.store.PartialClone() { // its filter leaves the content out, also of what is fetched by name
		command += "--refetch --no-filter "
	}
	return command + safetext.EscapeAll([]string{remote, "+" + there + ":" + here})
}

// absentMark stands behind what is told of a payload.
func absentMark(p conversation.Payload) string {
	if p.Absent {
		return ", not here"
	}
	return ""
}

func absentTexts(n int) string {
	if n == 1 {
		return "1 large text or attachment is"
	}
	return fmt.Sprintf("%d large texts or attachments are", n)
}

// An absence is what a search could not look at.
type absence struct {
	mu            sync.Mutex
	texts         int
	conversations int
	of            conversation.Info // one of them that a remote may have
}

// meet counts the events whose texts end before their end.
func (a *absence) meet(of conversation.Info, events []*conversation.Event) {
	n := 0
	for _, e := range events {
		n += count(e.Missing() > 0)
	}
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.texts, a.conversations = a.texts+n, a.conversations+1
	if a.of.ID == "" || of.Remote != "" {
		a.of = of
	}
}

// told says on standard error what was not searched.
func (a *absence) told(e *host, r *repo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.texts > 0 {
		e.note("Of %s in %s only the beginning is here and was searched%s", conversation.Count(a.texts, "large text"), conversation.Count(a.conversations, "conversation"), r.broughtBy(a.of.ID, a.of.Remote))
	}
}

// noting is a source that notes which texts are not here.
type noting struct {
	counting
	absence *absence
}

// Sift implements [search.Source].
func (n noting) Sift(ctx context.Context, of conversation.Info, s conversation.Sieve) ([]*conversation.Event, error) {
	events, err := n.counting.Sift(ctx, of, s)
	n.absence.meet(of, events)
	return events, err
}
