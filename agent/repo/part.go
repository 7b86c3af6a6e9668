package repo

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"jp/conversation"
)

// laterEvents are what a view of a part knows of the events behind that part.
type laterEvents struct {
	newest *conversation.Event
	tail   func() *conversation.IncompleteTurn // reads the newest turn
}

// Newest is the newest event of the conversation, of which the view may have only a part.
func (v *View) Newest() *conversation.Event {
	if v.later != nil {
		return v.later.newest
	}
	return v.Events[len(v.Events)-1]
}

// toNewest are the events of the view and those behind them. A view of a part reads the whole
// conversation.
func (v *View) toNewest() []*conversation.Event {
	if v.later == nil {
		return v.Events
	}
	if events, _ := v.Repo.Store.Load(context.Background(), v.Head); len(events) > 0 { // jp verify tells of an error
		return events
	}
	return v.Events
}

// loadPart loads the events from before the first to the last of those that words name by
// number, and no others. It returns the words as numbers from the start. It returns nil, and
// leaves the view as it is, if a word is no number of an event or an event cannot be read.
func (v *View) loadPart(ctx context.Context, words ...string) []string {
	var newest *conversation.Event
	for ev, err := range v.Repo.Store.Backward(ctx, v.Head) {
		if err != nil {
			return nil
		}
		newest = ev
		break
	}
	var seqs []int
	for _, word := range words {
		n, err := strconv.Atoi(strings.TrimPrefix(word, "@"))
		if n < 0 {
			n += newest.Seq + 1
		}
		if err != nil || n < 0 || n > newest.Seq {
			return nil
		}
		seqs = append(seqs, n)
	}
	first, last := slices.Min(seqs), slices.Max(seqs)
	var events []*conversation.Event
	of := conversation.Info{ID: v.ID, Remote: v.Remote, Head: v.Head}
	for ev, err := range v.Repo.Store.BackwardFrom(ctx, of, last) {
		if err != nil {
			return nil
		}
		if events = append(events, ev); ev.Seq < first {
			break
		}
	}
	slices.Reverse(events)
	v.Events = events
	v.later = &laterEvents{newest: newest, tail: func() *conversation.IncompleteTurn {
		all := &View{Repo: v.Repo, ID: v.ID, Remote: v.Remote, Head: v.Head}
		if all, err := all.back(ctx, func([]*conversation.Event) bool { return true }); err == nil {
			return all.Tail
		}
		return nil
	}}
	words = nil
	for _, n := range seqs {
		words = append(words, strconv.Itoa(n))
	}
	return words
}
