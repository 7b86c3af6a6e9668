package agent

import (
	"context"
	"slices"
	"sync"

	"jp/conversation"
	"jp/gitstore"
	"jp/provider"
)

// A HistoryCache keeps, for the next question of a chat or an editor's session, the loaded events of its conversation and
// what the requests have in common. The zero value is ready to use, by several
// goroutines.
type HistoryCache struct {
	mu       sync.Mutex
	events   []*conversation.Event
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
	events, err := loadAfter(ctx, s, at, c.events)
	if c.events = nil; err == nil && cacheable(events) {
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

// loadAfter loads the events up to a head. Known events of an older head are taken from there.
func loadAfter(ctx context.Context, s *gitstore.Store, at conversation.Head, known []*conversation.Event) ([]*conversation.Event, error) {
	var newer []*conversation.Event
	for e, err := range s.Backward(ctx, at) {
		if err != nil || len(known) == 0 {
			return s.Load(ctx, at)
		}
		if e.Seq < len(known) && known[e.Seq].Commit == e.Commit {
			known = known[: e.Seq+1 : e.Seq+1]
			slices.Reverse(newer)
			return append(known, newer...), nil
		}
		newer = append(newer, e)
	}
	slices.Reverse(newer)
	return newer, nil
}

// known has the common part of the requests, nil for nothing.
func (c *HistoryCache) known() *provider.CompleteTurns {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// cacheable reports whether the events are whole and not too large.
func cacheable(events []*conversation.Event) bool {
	var size int64
	for _, e := range events {
		if call, is := e.Body.(*conversation.ToolCallRequest); is {
			size += int64(len(call.Arguments))
		} else {
			text, _ := e.Text()
			size += int64(len(text))
		}
		for _, p := range e.Payloads {
			if size += p.Bytes; p.Absent { // it can come
				return false
			}
		}
	}
	return size <= mostCached
}
