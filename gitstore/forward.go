package gitstore

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Forward yields the events up to a head, oldest first, and stops at the first error. It walks
// from each entry of the conversation's index to the one below it, and holds the events of a few
// such walks. It adds to the index. [Store.Load] tells what is damaged, and where.
func (s *Store) Forward(ctx context.Context, of conversation.Info) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		head, err := s.parseHead(of.Head)
		var index chainIndex
		if err == nil {
			_, index, err = s.sidecars.find(ctx, of, head, 0)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		type walked struct {
			events []*conversation.Event
			err    error
		}
		ctx, cancel := context.WithCancel(ctx)
		walks := make(chan walked, 1)
		defer func() {
			cancel()
			for range walks { // nothing reads any more when this returns
			}
		}()
		go func() {
			defer close(walks)
			below := odb.OID("")
			for _, end := range append(index, indexEntry{oid: head}) {
				if end.oid == below {
					continue
				}
				events, err := s.commits.between(ctx, below, end.oid)
				select {
				case walks <- walked{events, err}:
				case <-ctx.Done():
				}
				if err != nil || ctx.Err() != nil {
					return
				}
				below = end.oid
			}
		}()
		for w := range walks {
			if w.err != nil {
				yield(nil, w.err)
				return
			}
			for _, e := range w.events {
				if !yield(e, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// between are the events behind one, "" for the start, up to another, oldest first.
func (r *commitReader) between(ctx context.Context, below, end odb.OID) (events []*conversation.Event, err error) {
	w := r.walk(end)
	for !w.done && w.next != below {
		l, err := w.step(ctx)
		if err != nil {
			return nil, err
		}
		events = append(events, l.event)
	}
	if w.done && below != "" {
		return nil, fmt.Errorf("%w: %.10s is not behind %.10s", errNotCached, end, below)
	}
	slices.Reverse(events)
	return events, nil
}
