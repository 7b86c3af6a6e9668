package ui

import (
	"context"
	"sync"

	"jp/conversation"
	"jp/process/attach"
)

type nextMessages struct {
	events []*conversation.Event
	m      attach.Message
	err    error // the last one
}

// An inbox keeps a process's messages until the client has time for them, since a process does not
// wait for clients.
type inbox struct {
	mu      sync.Mutex
	updates []nextMessages
	news    chan struct{}
}

func newInbox() *inbox { return &inbox{news: make(chan struct{}, 1)} }

// fill adds messages, up to the first error.
func (b *inbox) fill(ctx context.Context, f *attach.Follower) {
	for {
		events, m, err := f.Next(ctx)
		b.mu.Lock()
		b.updates = append(b.updates, nextMessages{events, m, err})
		b.mu.Unlock()
		select {
		case b.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (b *inbox) take() []nextMessages {
	b.mu.Lock()
	defer b.mu.Unlock()
	updates := b.updates
	b.updates = nil
	return updates
}
