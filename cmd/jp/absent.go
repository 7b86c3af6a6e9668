package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
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
	return fmt.Sprintf("… the rest (%s) is not here%s", byteCount(int(missing)), broughtBy(v.remote))
}

// printRest prints that on a line of its own.
func (v *view) printRest(w io.Writer, e *conversation.Event) {
	if rest := v.rest(e); rest != "" {
		fmt.Fprintln(w, v.palette.Yellow(rest))
	}
}

// broughtBy is what may bring absent texts of what was fetched, behind what says so.
func broughtBy(remote string) string {
	if remote == "" {
		return ""
	}
	return "; " + fetchTexts(remote) + "   may bring more"
}

// fetchTexts fetches what stands beside the events.
func fetchTexts(remote string) string {
	return "git fetch " + terminal.Escape(remote) + " 'refs/jp/payloads/*:refs/jp/payloads/*'"
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
	remote        string // that one of them was fetched from
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
	if of.Remote != "" {
		a.remote = of.Remote
	}
}

// told says on standard error what was not searched.
func (a *absence) told(e *env) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.texts > 0 {
		e.note("Of %s in %s only the beginning is here and was searched%s", conversation.Count(a.texts, "large text"), conversation.Count(a.conversations, "conversation"), broughtBy(a.remote))
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
