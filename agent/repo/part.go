package repo

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"jp/conversation"
	"jp/gitstore"
)

// laterEvents are a partial view's facts about the events behind its part.
type laterEvents struct {
	newest *conversation.Event
	turn   func() *View // the newest turn, empty if unreadable
}

// Newest is the newest event of the conversation, of which the view may have only a part.
func (v *View) Newest() *conversation.Event {
	if v.later != nil {
		return v.later.newest
	}
	return v.Events[len(v.Events)-1]
}

// NewestTurn are the events of the newest turn, perhaps with others before it.
func (v *View) NewestTurn() []*conversation.Event {
	if v.later != nil {
		return v.later.turn().Events
	}
	return v.Events
}

// toNewest are the events of the view and those behind them. A view of a part reads the whole
// conversation.
func (v *View) toNewest() []*conversation.Event {
	if v.later == nil {
		return v.Events
	}
	if events, _ := v.Repo.Store.Load(context.Background(), v.Head); len(events) > 0 { // jp verify reports an error
		return events
	}
	return v.Events
}

// loadPart loads only the events from before the first to the last of those that words name by number or as
// the last of a turn. It returns the words as numbers from the start. It returns nil, and leaves the view as
// it is, if a word has another form or an event is unreadable.
func (v *View) loadPart(ctx context.Context, words ...string) []string {
	newest := v.newest(ctx)
	if newest == nil {
		return nil
	}
	var seqs []int
	for _, word := range words {
		place, ok := placeOf(word)
		n := place.Seq
		if n < 0 {
			n += newest.Seq + 1
		}
		if place.Turn != 0 && ok {
			n = -1
			for ev, err := range v.Repo.Store.BackwardFrom(ctx, v.info(), place) {
				if err == nil {
					n = ev.Seq
				}
				break
			}
		}
		if !ok || n < 0 || n > newest.Seq {
			return nil
		}
		seqs = append(seqs, n)
	}
	first, last := slices.Min(seqs), slices.Max(seqs)
	if !v.loadTo(ctx, newest, gitstore.Place{Seq: last}, func(oldest *conversation.Event) bool { return oldest.Seq < first }) {
		return nil
	}
	words = nil
	for _, n := range seqs {
		words = append(words, strconv.Itoa(n))
	}
	return words
}

// placeOf is the place of an event that a number or turn:N names.
func placeOf(word string) (at gitstore.Place, ok bool) {
	word = strings.TrimPrefix(word, "@")
	turn, isTurn := strings.CutPrefix(word, "turn:")
	n, err := strconv.Atoi(turn)
	if isTurn {
		return gitstore.Place{Turn: n}, err == nil && n > 0
	}
	return gitstore.Place{Seq: n}, err == nil
}

func (v *View) info() conversation.Info {
	return conversation.Info{ID: v.ID, Remote: v.Remote, Head: v.Head}
}

// newest is the newest event of the conversation, nil if unreadable.
func (v *View) newest(ctx context.Context) *conversation.Event {
	for ev, err := range v.Repo.Store.Backward(ctx, v.Head) {
		if err == nil {
			return ev
		}
		break
	}
	return nil
}

// loadTo loads events up to one, from the newest that is far enough back. It leaves the view as it is if one
// of them is unreadable.
func (v *View) loadTo(ctx context.Context, newest *conversation.Event, last gitstore.Place, enough func(oldest *conversation.Event) bool) bool {
	var events []*conversation.Event
	for ev, err := range v.Repo.Store.BackwardFrom(ctx, v.info(), last) {
		if err != nil {
			return false
		}
		if events = append(events, ev); enough(ev) {
			break
		}
	}
	slices.Reverse(events)
	v.Events = events
	v.later = &laterEvents{newest: newest, turn: sync.OnceValue(func() *View {
		turn := &View{Repo: v.Repo, ID: v.ID, Remote: v.Remote, Head: v.Head}
		if read, err := turn.back(ctx, func([]*conversation.Event) bool { return true }); err == nil {
			return read
		}
		return turn
	})}
	return true
}

// ViewTurns is the conversation with the events of some turns, from before the first of them on. If they
// reach to the newest turn, or some are missing, it has the events up to the newest.
func (r Finder) ViewTurns(ctx context.Context, e *Host, word string, first, last int) (*View, error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return nil, err
	}
	if newest := v.newest(ctx); newest != nil && first > 0 && first <= last && last < newest.Turn {
		if v.loadTo(ctx, newest, gitstore.Place{Turn: last}, func(oldest *conversation.Event) bool { return oldest.Turn < first }) {
			return v, nil
		}
	}
	return v.back(ctx, BeforeTurn(first))
}

// ViewKept is the conversation from the start of a turn up to one of its events, which a number from the
// start names, or turn:N as the last one. It goes back from the newest event, as far as enough requires, if
// the fork needs more: the newest turn is unreadable, or the conversation is itself a fork, which may share
// the event.
func (r Finder) ViewKept(ctx context.Context, e *Host, word, event string, enough Reach) (*View, error) {
	v, err := r.open(ctx, e, word)
	if err != nil {
		return nil, err
	}
	if at, ok := placeOf(event); ok && v.Remote == "" && v.loadKept(ctx, at) {
		return v, nil
	}
	return v.back(ctx, enough)
}

func (v *View) loadKept(ctx context.Context, at gitstore.Place) bool {
	newest := v.newest(ctx)
	if newest == nil {
		return false
	}
	if newest.Signed {
		if info, err := v.Repo.Store.Info(ctx, v.ID); err != nil || info.Head != v.Head || info.Summary.Fork != nil {
			return false
		}
	}
	part := *v
	if !part.loadTo(ctx, newest, at, func(oldest *conversation.Event) bool { return oldest.Type() == conversation.TypeTurnStart }) {
		return false
	}
	if read := part.later.turn(); len(read.Events) == 0 || read.Broken != nil {
		return false
	}
	*v = part
	return true
}
