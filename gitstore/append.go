package gitstore

import (
	"context"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Create starts a conversation behind the commit base, or with a root commit.
func (s *Store) Create(ctx context.Context, id conversation.ID, base string, events []*conversation.Event) (conversation.Head, error) {
	if err := s.refs.checkFree(id); err != nil {
		return "", err
	}
	if len(events) > 0 && events[0].Seq != 0 {
		return "", fmt.Errorf("create %s: event %d cannot be the first", id, events[0].Seq)
	}
	on, err := basePlace(s, base)
	if err != nil {
		return "", err
	}
	return s.write(ctx, id, refLive+string(id), "", on, events)
}

// basePlace is the place of a conversation's first event.
func basePlace(s *Store, base string) (basis, error) {
	if base == "" {
		return basis{tree: odb.OID(s.repo.ObjectFormat.EmptyTree())}, nil
	}
	oid, err := odb.ParseOID(base)
	if err != nil {
		return basis{}, fmt.Errorf("base of a conversation: %w", err)
	}
	kind, object, err := s.odb.ReadObject(oid)
	if err != nil {
		return basis{}, fmt.Errorf("base of a conversation: %w", storeError(err))
	}
	if kind != "commit" {
		return basis{}, fmt.Errorf("base of a conversation: %.10s is a %s", base, kind)
	}
	tree, committed, err := parentState(object)
	if err != nil {
		return basis{}, fmt.Errorf("base of a conversation: %.10s: %w", base, err)
	}
	return basis{parent: oid, tree: tree, committed: committed}, nil
}

// Append adds events behind the expected head.
func (s *Store) Append(ctx context.Context, id conversation.ID, expect conversation.Head, events []*conversation.Event) (conversation.Head, error) {
	if ref := s.tips.writtenTo(id, odb.OID(expect)); ref != "" && len(events) > 0 {
		head, err := s.appendAt(ctx, id, odb.Ref{Name: ref, OID: odb.OID(expect)}, events)
		if !errors.Is(err, conversation.ErrHeadMoved) {
			return head, err
		}
	}
	ref, head, err := s.refs.find(id)
	if err != nil {
		return "", err
	}
	if conversation.Head(head) != expect {
		return "", fmt.Errorf("append to %s: %w: it is at %.10s and not at %.10s", id, conversation.ErrHeadMoved, head, expect)
	}
	if len(events) == 0 {
		return expect, nil
	}
	return s.appendAt(ctx, id, odb.Ref{Name: ref, OID: head}, events)
}

// appendAt adds events to a conversation at its assumed ref.
func (s *Store) appendAt(ctx context.Context, id conversation.ID, at odb.Ref, events []*conversation.Event) (conversation.Head, error) {
	on, err := s.sidecars.tipPlace(ctx, at.OID, events[0])
	if err != nil {
		return "", fmt.Errorf("append to %s: %w", id, err)
	}
	return s.write(ctx, id, at.Name, at.OID, on, events)
}

// tipPlace is the place behind the newest event.
func (s *sidecars) tipPlace(ctx context.Context, head odb.OID, next *conversation.Event) (basis, error) {
	tip, err := s.readTip(ctx, conversation.Info{}, head)
	if err != nil {
		return basis{}, err
	}
	if tip.event.Opaque() {
		return basis{}, fmt.Errorf("event %d: %w", tip.event.Seq, conversation.ErrNewer)
	}
	if next.Seq != tip.event.Seq+1 {
		return basis{}, fmt.Errorf("event %d cannot follow event %d", next.Seq, tip.event.Seq)
	}
	return basis{parent: head, tree: odb.OID(tip.event.Tree), committed: tip.committed, summary: tip.summary, needs: tip.event.Needs}, nil
}

// readTip reads the newest event, with a summary that can be built on: its own
// if it is this user's work, else one made from the whole chain.
func (s *sidecars) readTip(ctx context.Context, of conversation.Info, head odb.OID) (*tip, error) {
	if t := s.tips.known(head); t != nil {
		return t, nil
	}
	l, err := s.commits.read(head)
	if err != nil {
		return nil, err
	}
	t := l.tip()
	if t == nil {
		t = &tip{event: l.event, committed: l.committed}
		if t.summary, err = s.summary(ctx, of, l); err != nil {
			return nil, err
		}
	}
	s.tips.remember(head, t, "")
	return t, nil
}

// write makes the events durable behind the place and moves the ref to the last
// of them. Payload is durable before the events that name it.
func (s *Store) write(ctx context.Context, id conversation.ID, ref string, old odb.OID, on basis, events []*conversation.Event) (conversation.Head, error) {
	if len(events) == 0 {
		return "", errors.New("a conversation needs an event")
	}
	group, err := s.groups.build(events, id, func() (odb.OID, error) { return s.refs.payloadHead(id) }, on)
	if err != nil {
		return "", err
	}
	batch := odb.Batch{Objects: group.objects, Updates: group.payloadUpdate(id)}
	batch.Updates = append(batch.Updates, odb.RefUpdate{Ref: ref, Old: old, New: group.end.parent})
	if err := s.odb.Write(ctx, batch); err != nil {
		return "", fmt.Errorf("record event %d of %s: %w", events[0].Seq, id, writeError(err, old))
	}
	s.heads.saw(id, group.end.parent)
	s.tips.remember(group.end.parent, written(events[len(events)-1], group.end, ref), old)
	return conversation.Head(group.end.parent), nil
}

// writeError is storeError, for a write behind a head. There another writer may
// have made the payload's ref meanwhile, and the conversation exists anyway.
func writeError(err error, behind odb.OID) error {
	if behind != "" && errors.Is(err, odb.ErrRefExists) {
		return fmt.Errorf("%w: %w", conversation.ErrHeadMoved, err)
	}
	return storeError(err)
}

// Fork makes a new conversation that shares the source's events up to a head. from is
// the local conversation of these events. If it is "", the fork gets a payload chain of
// its own.
func (s *Store) Fork(ctx context.Context, from conversation.ID, at conversation.Head, id conversation.ID, origin *conversation.Event) (conversation.Head, error) {
	if err := s.refs.checkFree(id); err != nil {
		return "", err
	}
	if err := s.refs.checkThere(from); err != nil {
		return "", err
	}
	head, err := s.parseHead(at)
	if err != nil {
		return "", err
	}
	on, err := s.sidecars.tipPlace(ctx, head, origin)
	if err != nil {
		return "", fmt.Errorf("fork %s: %w", from, err)
	}
	var batch odb.Batch
	var payload odb.OID
	if from != "" {
		payload, err = s.refs.payloadHead(from)
	} else {
		batch.Objects, payload, err = s.payloads.keepFetched(ctx, head)
	}
	if err != nil {
		return "", fmt.Errorf("fork: keep its payload: %w", err)
	}
	g, err := s.groups.build([]*conversation.Event{origin}, id, func() (odb.OID, error) { return payload, nil }, on)
	if err != nil {
		return "", err
	}
	batch.Objects = append(batch.Objects, g.objects...)
	if g.payload != "" {
		payload = g.payload
	}
	if payload != "" {
		batch.Updates = append(batch.Updates, odb.RefUpdate{Ref: refPayloads + string(id), New: payload})
	}
	batch.Updates = append(batch.Updates, odb.RefUpdate{Ref: RefOf(id), New: g.end.parent})
	if err := s.odb.Write(ctx, batch); err != nil {
		return "", fmt.Errorf("fork %s: %w", from, storeError(err))
	}
	s.heads.saw(id, g.end.parent)
	s.tips.remember(g.end.parent, written(origin, g.end, RefOf(id)), "")
	return conversation.Head(g.end.parent), nil
}
