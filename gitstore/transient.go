package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"jp/conversation"
)

// ErrTransient means that a caller tried to change a recorded conversation through a [Transient].
var ErrTransient = errors.New("nothing is recorded here")

// A Transient is a journal over the store that records nothing: it checks, rewrites and
// describes events as the store does, without commits. Its events live as long as the
// process.
type Transient struct {
	conversation.Journal
	store *Store

	mu       sync.Mutex
	places   map[conversation.Head]basis
	payloads map[string][]byte // content by id
}

var _ conversation.Journal = (*Transient)(nil)

// Transient returns a journal over the store that records nothing. From then on the
// store writes no sidecar either: it reads again what it searches.
func (s *Store) Transient() *Transient {
	s.sidecars.readOnly.Store(true)
	return &Transient{Journal: s, store: s, places: map[conversation.Head]basis{}, payloads: map[string][]byte{}}
}

// Create implements [conversation.Journal].
func (t *Transient) Create(_ context.Context, id conversation.ID, base string, events []*conversation.Event) (conversation.Head, error) {
	on, err := basePlace(t.store, base)
	if err != nil {
		return "", err
	}
	return t.add(id, on, events)
}

// Append implements [conversation.Journal]. The expected head is any recorded event, or the last one that
// was appended here.
func (t *Transient) Append(ctx context.Context, id conversation.ID, expect conversation.Head, events []*conversation.Event) (conversation.Head, error) {
	if len(events) == 0 {
		return expect, nil
	}
	t.mu.Lock()
	on, taken := t.places[expect]
	t.mu.Unlock()
	if !taken {
		head, err := t.store.parseHead(expect)
		if err != nil {
			return "", err
		}
		if on, err = t.store.sidecars.tipPlace(ctx, head, events[0]); err != nil {
			return "", fmt.Errorf("append to %s: %w", id, err)
		}
	}
	return t.add(id, on, events)
}

// add makes events of those that would be written, and keeps their payload.
func (t *Transient) add(id conversation.ID, on basis, events []*conversation.Event) (conversation.Head, error) {
	if len(events) == 0 {
		return "", errors.New("a conversation needs an event")
	}
	if err := t.store.groups.rewritten(id, events); err != nil {
		return "", err
	}
	enc := t.store.groups.encoder()
	for i, e := range events {
		if e.Seq != events[0].Seq+i {
			return "", fmt.Errorf("event %d cannot follow event %d", e.Seq, events[0].Seq+i-1)
		}
		_, next, err := enc.encode(e, on)
		if err != nil {
			return "", err
		}
		on, e.Commit, e.Tree = next, "", "" // the commit does not exist, and jp did not look at the files
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		for _, p := range e.Payloads {
			if p.Data != nil {
				t.payloads[p.OID] = p.Data
			}
		}
	}
	t.places[conversation.Head(on.parent)] = on
	return conversation.Head(on.parent), nil
}

// Payload implements [conversation.Journal].
func (t *Transient) Payload(ctx context.Context, p conversation.Payload) ([]byte, bool, error) {
	t.mu.Lock()
	data, taken := t.payloads[p.OID]
	t.mu.Unlock()
	if taken {
		return slices.Clone(data), true, nil
	}
	return t.store.Payload(ctx, p)
}

// Fork implements [conversation.Journal]: it fails.
func (t *Transient) Fork(context.Context, conversation.ID, conversation.Head, conversation.ID, *conversation.Event) (conversation.Head, error) {
	return "", ErrTransient
}

// Archive implements [conversation.Journal]: it fails.
func (t *Transient) Archive(context.Context, conversation.ID, conversation.Head, *conversation.Event, bool) (conversation.Head, error) {
	return "", ErrTransient
}

// Delete implements [conversation.Journal]: it fails.
func (t *Transient) Delete(context.Context, conversation.ID, conversation.Head) error {
	return ErrTransient
}
