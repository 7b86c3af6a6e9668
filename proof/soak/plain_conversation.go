package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"jp/conversation"
)

// besides is how many conversations this process appends to itself, to time each
// append, and besideGap how often it does.
const (
	besides   = 4
	besideGap = time.Second
)

// A plainConversation is a conversation that this process appends to.
type plainConversation struct {
	id     conversation.ID
	events int // durable ones
}

// appendBeside appends to conversations of its own until ctx ends, an event a
// second each, by the path that jp takes. Each has a store of its own, as if it
// were a process.
func (s *soak) appendBeside(ctx context.Context) (err error) {
	var group sync.WaitGroup
	errs := make([]error, besides)
	for i := range besides {
		b := &plainConversation{id: conversation.ID(fmt.Sprintf("jp-c%011d", i+1))}
		s.besides = append(s.besides, b)
		group.Go(func() { errs[i] = s.fill(ctx, b) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (s *soak) fill(ctx context.Context, b *plainConversation) error {
	store, err := s.arena.store()
	if err != nil {
		return err
	}
	defer store.Close()
	// A begun step is finished: an append that is cut off tells nothing.
	whole := context.WithoutCancel(ctx)
	head, err := store.Create(whole, b.id, "", turnEvents(0, 2))
	if err != nil {
		return err
	}
	b.events = 2
	tick := time.NewTicker(besideGap)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		events := turnEvents(b.events, 1)
		start := time.Now()
		if head, err = store.Append(whole, b.id, head, events); err != nil {
			return fmt.Errorf("append event %d to %s: %w", b.events, b.id, err)
		}
		s.appends.since(start)
		b.events++
	}
}

// turnEvents are n events of a conversation whose turns have three: the start,
// the request and an answer of about one kilobyte.
func turnEvents(seq, n int) (events []*conversation.Event) {
	for ; n > 0; n, seq = n-1, seq+1 {
		e := &conversation.Event{Seq: seq, Turn: seq/3 + 1, Time: time.Now(), Model: "script/fixed"}
		switch seq % 3 {
		case 0:
			e.Body = &conversation.TurnStart{Model: "script/fixed", JP: "0.1.0"}
		case 1:
			e.Body = &conversation.ChatRequest{Content: fmt.Sprintf("Request %d", seq/3)}
		default:
			e.Body = &conversation.ChatResponse{
				Call: 1, Part: conversation.PartMessage, Text: strings.Repeat("An answer, at length. ", 48), CallEnd: conversation.CallEnd{Finish: conversation.FinishStop},
			}
		}
		events = append(events, e)
	}
	return events
}
