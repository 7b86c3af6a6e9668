package attach

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"jp/conversation"
)

// ReverseReader reads events backward from a head, as a store does.
type ReverseReader func(ctx context.Context, head conversation.Head) iter.Seq2[*conversation.Event, error]

// A Follower gives every event of a conversation behind some event once, in
// order: those that were durable at hello, then each as it becomes durable.
type Follower struct {
	client *Client
	back   ReverseReader
	seq    int // of the newest event that was given
	begun  bool
}

// Follow follows a conversation from behind an event, -1 for all of it.
func (c *Client) Follow(after int, back ReverseReader) *Follower {
	return &Follower{client: c, back: back, seq: after}
}

// Next waits for the next events, or another message. The first ones are those that were durable at hello,
// perhaps none. If ctx ends the wait, reading is over, and sending goes on.
func (f *Follower) Next(ctx context.Context) (events []*conversation.Event, m Message, err error) {
	if !f.begun {
		f.begun = true
		events, err = f.since(ctx, f.client.hello.Head, f.client.hello.Seq)
		return events, nil, err
	}
	for {
		m, err := f.client.next(ctx)
		if err != nil {
			return nil, nil, err
		}
		e, ok := m.(*Event)
		if !ok {
			return nil, m, nil
		}
		if e.Seq > f.seq {
			events, err := f.since(ctx, e.Commit, e.Seq)
			return events, nil, err
		}
	}
}

// next is Next, which the end of ctx ends.
func (c *Client) next(ctx context.Context) (Message, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetReadDeadline(time.Unix(0, 1)) })
	m, err := c.Next()
	if !stop() && err != nil {
		err = context.Cause(ctx)
	}
	return m, err
}

// since reads the events behind the newest one that was given, up to a head.
func (f *Follower) since(ctx context.Context, head conversation.Head, seq int) (events []*conversation.Event, err error) {
	if head == "" || seq <= f.seq {
		return nil, nil
	}
	for e, err := range f.back(ctx, head) {
		if err != nil {
			return nil, fmt.Errorf("read the events up to %d: %w", seq, err)
		}
		if e.Seq <= f.seq {
			break
		}
		events = append(events, e)
	}
	if len(events) != seq-f.seq {
		return nil, fmt.Errorf("read the events up to %d: %w: %d of %d are there", seq, ErrGap, len(events), seq-f.seq)
	}
	slices.Reverse(events)
	f.seq = seq
	return events, nil
}
