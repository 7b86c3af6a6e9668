package gitstore

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// A Collection does many writes of a Store as one.
type Collection struct{ Store *Store }

// Do runs a function that writes. All that it makes goes into one pack, and the refs move when the pack is
// durable. After an error the store has none of it, or the beginning if it is too large for one pack. A
// store that collects is for one goroutine.
func (c Collection) Do(ctx context.Context, write func() error) error {
	s := c.Store
	objects := &odb.Collection{Store: s.odb}
	if err := objects.Begin(); err != nil {
		return err
	}
	held := map[conversation.ID]odb.OID{}
	s.heads.held = held
	err := write()
	s.heads.held = nil
	if err != nil {
		objects.Discard()
		s.tips.forget()
		return err
	}
	packs, err := objects.Complete(ctx)
	if err != nil {
		s.tips.forget()
		return fmt.Errorf("record what was collected: %w", storeError(err))
	}
	for id, head := range held {
		s.heads.saw(id, head)
	}
	if err := s.Packer().Made(packs); err != nil && s.heads.log != nil {
		s.heads.log.Warn("jp cannot note a pack as its own; it will not be merged with others", "error", err)
	}
	return nil
}

// Keep makes objects durable that no event has yet. git removes them after weeks, if none gets them.
func (c Collection) Keep(ctx context.Context, objects []conversation.Object) error {
	batch := odb.Batch{}
	for _, o := range objects {
		batch.Objects = append(batch.Objects, odb.Object{Kind: o.Kind, OID: odb.OID(o.OID), Data: o.Data})
	}
	return storeError(c.Store.odb.Write(ctx, batch))
}

// Replace is [Store.Append] behind an earlier event, and those after it leave the conversation. It is for a
// copy of others' records: the end of such a copy may be incomplete. Only a collection has it, so that no
// other writer can take events away.
func (c Collection) Replace(ctx context.Context, id conversation.ID, expect, behind conversation.Head, events []*conversation.Event) (conversation.Head, error) {
	s := c.Store
	ref, head, err := s.refs.find(id)
	if err != nil {
		return "", err
	}
	if conversation.Head(head) != expect {
		return "", fmt.Errorf("replace the end of %s: %w: it is at %.10s and not at %.10s", id, conversation.ErrHeadMoved, head, expect)
	}
	at, err := s.parseHead(behind)
	if err != nil {
		return "", err
	}
	on, err := s.sidecars.tipPlace(ctx, at, events[0])
	if err != nil {
		return "", fmt.Errorf("replace the end of %s: %w", id, err)
	}
	return s.write(ctx, id, ref, head, on, events)
}
