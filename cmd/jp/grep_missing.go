package main

import (
	"context"
	"fmt"
	"sync"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
)

func absentTexts(n int) string {
	if n == 1 {
		return "1 large text or attachment is"
	}
	return fmt.Sprintf("%d large texts or attachments are", n)
}

// An absence counts the texts that a search could not read.
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
		n += problem.Count(e.Missing() > 0)
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

// report notes on standard error how much was not searched.
func (a *absence) report(e *repo.Host, r *repo.Repo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.texts > 0 {
		e.Note("Of %s in %s only the beginning is here and was searched%s", conversation.Count(a.texts, "large text"), conversation.Count(a.conversations, "conversation"), r.BroughtBy(a.of.ID, a.of.Remote))
	}
}

// noting is a source that notes which texts are not here.
type noting struct {
	counting
	absence *absence
}

// Scan implements [search.Source].
func (n noting) Scan(ctx context.Context, of conversation.Info, s conversation.Prefilter) ([]*conversation.Event, error) {
	events, err := n.counting.Scan(ctx, of, s)
	n.absence.meet(of, events)
	return events, err
}
