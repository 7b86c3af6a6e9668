package agent

import (
	"context"
	"slices"
	"sync"

	"jp/conversation"
	"jp/gitstore"
	"jp/provider"
)

// A HistoryCache keeps, for the next question of a chat or an editor's session, the loaded events of its
// conversation and the common part of the requests. The zero value is ready to use, by several goroutines.
type HistoryCache struct {
	mu       sync.Mutex
	events   []*conversation.Event
	size     int64 // of their texts and attachments
	requests *provider.CompleteTurns
}

// mostCached is how many bytes of texts and attachments a cache keeps. Their messages and JSON take about twice as many more.
const mostCached = 64 << 20

// load loads the events up to a head: from the journal those that came since the last question.
func (c *HistoryCache) load(ctx context.Context, s *gitstore.Store, at conversation.Head) ([]*conversation.Event, error) {
	if c == nil {
		return s.Load(ctx, at)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	events, known, err := loadAfter(ctx, s, at, c.events)
	if known == 0 || known < len(c.events) { // another history
		known, c.size = 0, 0
	}
	if c.events = nil; err == nil && c.fits(events[known:]) {
		c.events = slices.Clone(events) // a stream appends to its own
	}
	switch {
	case c.events == nil:
		c.requests = nil
	case c.requests == nil:
		c.requests = new(provider.CompleteTurns)
	}
	return events, err
}

// loadAfter loads the events up to a head, and says how many of them are known ones.
func loadAfter(ctx context.Context, s *gitstore.Store, at conversation.Head, known []*conversation.Event) (events []*conversation.Event, same int, err error) {
	var newer []*conversation.Event
	for e, err := range s.Backward(ctx, at) {
		if err != nil || len(known) == 0 {
			events, err := s.Load(ctx, at)
			return events, 0, err
		}
		if e.Seq < len(known) && known[e.Seq].Commit == e.Commit {
			same = e.Seq + 1
			slices.Reverse(newer)
			return append(known[:same:same], newer...), same, nil
		}
		newer = append(newer, e)
	}
	slices.Reverse(newer)
	return newer, 0, nil
}

// known is the common part of the requests, nil if empty.
func (c *HistoryCache) known() *provider.CompleteTurns {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// fits adds the size of events, and reports whether they are whole and small enough.
func (c *HistoryCache) fits(events []*conversation.Event) bool {
	for _, e := range events {
		c.size += int64(e.TextBytes())
		for _, p := range e.Payloads {
			if c.size += p.Bytes; p.Absent { // it may arrive later
				return false
			}
		}
	}
	return c.size <= mostCached
}
