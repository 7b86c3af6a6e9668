package gitstore

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Archive appends the record and moves the conversation between the live and
// the archived ones, in one step.
func (s *Store) Archive(ctx context.Context, id conversation.ID, expect conversation.Head, record *conversation.Event, archived bool) (conversation.Head, error) {
	from, to := refLive+string(id), refArchive+string(id)
	if !archived {
		from, to = to, from
	}
	head, err := s.odb.ReadRef(from)
	if err != nil {
		return "", fmt.Errorf("conversation %s: %w", id, storeError(err))
	}
	if conversation.Head(head) != expect {
		return "", fmt.Errorf("archive %s: %w", id, conversation.ErrHeadMoved)
	}
	on, err := s.tipPlace(ctx, head, record)
	if err != nil {
		return "", fmt.Errorf("archive %s: %w", id, err)
	}
	g, err := s.group([]*conversation.Event{record}, id, id, on)
	if err != nil {
		return "", err
	}
	if err := s.odb.Write(ctx, odb.Batch{Objects: g.objects}); err != nil {
		return "", fmt.Errorf("archive %s: %w", id, storeError(err))
	}
	updates := append(g.payloadUpdate(id), odb.RefUpdate{Ref: to, New: g.end.parent}, odb.RefUpdate{Ref: from, Old: head})
	if err := s.moveTo(ctx, g.objects, updates); err != nil {
		return "", fmt.Errorf("archive %s: %w", id, storeError(err))
	}
	s.remember(g.end.parent, written(record, g.end), head)
	return conversation.Head(g.end.parent), nil
}

// moveTo moves refs to objects that were just written. A prune may take them
// before they have a ref, and then once more.
func (s *Store) moveTo(ctx context.Context, objects []odb.Object, updates []odb.RefUpdate) error {
	s.odb.Watch(objects)
	err := s.odb.Transaction(ctx, updates)
	if err == nil {
		return nil
	}
	if again, restoreErr := s.odb.Restore(ctx); !again || restoreErr != nil {
		return err
	}
	return s.odb.Transaction(ctx, updates)
}

// Delete removes a conversation and the ref that keeps its payload.
func (s *Store) Delete(ctx context.Context, id conversation.ID, expect conversation.Head) error {
	ref, head, err := s.find(id)
	if err != nil {
		return err
	}
	if conversation.Head(head) != expect {
		return fmt.Errorf("delete %s: %w", id, conversation.ErrHeadMoved)
	}
	updates := []odb.RefUpdate{{Ref: ref, Old: head}}
	payload, err := s.payloadHead(id)
	if err != nil {
		return err
	}
	if payload != "" {
		updates = append(updates, odb.RefUpdate{Ref: refPayloads + string(id), Old: payload})
	}
	if err := s.odb.Transaction(ctx, updates); err != nil {
		return fmt.Errorf("delete %s: %w", id, storeError(err))
	}
	if err := s.dropSidecar(id); err != nil {
		return fmt.Errorf("delete what is kept of %s for searching: %w", id, err)
	}
	return nil
}
