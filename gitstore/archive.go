package gitstore

import (
	"context"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Archive appends the record and moves the conversation between the live and
// the archived ones, in one step. A move that was broken off is ended instead,
// and the record is that of then.
func (s *Store) Archive(ctx context.Context, id conversation.ID, expect conversation.Head, record *conversation.Event, archived bool) (conversation.Head, error) {
	from, to := refLive+string(id), refArchive+string(id)
	if !archived {
		from, to = to, from
	}
	head, err := s.odb.ReadRef(from)
	if err != nil {
		return "", fmt.Errorf("conversation %s: %w", id, storeError(err))
	}
	there, err := s.odb.ReadRef(to)
	if err != nil && !errors.Is(err, odb.ErrRefNotFound) {
		return "", fmt.Errorf("conversation %s: %w", id, storeError(err))
	}
	if e := odb.OID(expect); e != head && (there == "" || e != there) {
		return "", fmt.Errorf("archive %s: %w", id, conversation.ErrHeadMoved)
	}
	if there != "" && s.reaches(there, head) {
		err := s.odb.Transaction(ctx, []odb.RefUpdate{{Ref: from, Old: head}})
		return conversation.Head(there), archiveError(id, err)
	}
	return s.archive(ctx, id, odb.RefUpdate{Ref: from, Old: head}, odb.RefUpdate{Ref: to, Old: s.reachedFrom(head, there)}, record)
}

func archiveError(id conversation.ID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("archive %s: %w", id, storeError(err))
}

// archive appends the record to what from has, and makes that the value of to.
func (s *Store) archive(ctx context.Context, id conversation.ID, from, to odb.RefUpdate, record *conversation.Event) (conversation.Head, error) {
	on, err := s.tipPlace(ctx, from.Old, record)
	if err != nil {
		return "", fmt.Errorf("archive %s: %w", id, err)
	}
	g, err := s.group([]*conversation.Event{record}, id, func() (odb.OID, error) { return s.payloadHead(id) }, on)
	if err != nil {
		return "", err
	}
	if err := s.odb.Write(ctx, odb.Batch{Objects: g.objects}); err != nil {
		return "", archiveError(id, err)
	}
	to.New = g.end.parent
	if err := s.moveTo(ctx, g.objects, append(g.payloadUpdate(id), to, from)); err != nil {
		return "", archiveError(id, err)
	}
	s.remember(to.New, written(record, g.end), from.Old)
	return conversation.Head(to.New), nil
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

// EndMove takes a conversation out of the older of two places, where a move into
// the archive or out of it was broken off, and reports whether it was.
func (s *Store) EndMove(ctx context.Context, id conversation.ID) (ended bool, err error) {
	places := []string{refLive + string(id), refArchive + string(id)}
	var heads []odb.OID
	for _, ref := range places {
		head, err := s.odb.ReadRef(ref)
		if errors.Is(err, odb.ErrRefNotFound) {
			return false, nil
		}
		if err != nil {
			return false, archiveError(id, err)
		}
		heads = append(heads, head)
	}
	for i, ref := range places {
		if s.reaches(heads[1-i], heads[i]) {
			err := s.odb.Transaction(ctx, []odb.RefUpdate{{Ref: ref, Old: heads[i]}})
			return err == nil, archiveError(id, err)
		}
	}
	return false, nil
}

// reaches reports whether an event is one of those up to a head.
func (s *Store) reaches(head, event odb.OID) bool {
	for oid := head; oid != ""; oid = firstParent(s.stored(oid).object) {
		if oid == event {
			return true
		}
	}
	return false
}

// reachedFrom is an older head that a newer one has on the way, else "": nothing
// is moved over what is somebody else's.
func (s *Store) reachedFrom(newer, older odb.OID) odb.OID {
	if older != "" && s.reaches(newer, older) {
		return older
	}
	return ""
}

// Delete removes a conversation and the ref that keeps its payload, and where a
// move into the archive or out of it was broken off, both of its refs.
func (s *Store) Delete(ctx context.Context, id conversation.ID, expect conversation.Head) error {
	ref, head, err := s.find(id)
	if err != nil {
		return err
	}
	if conversation.Head(head) != expect {
		return fmt.Errorf("delete %s: %w", id, conversation.ErrHeadMoved)
	}
	updates := []odb.RefUpdate{{Ref: ref, Old: head}}
	if other := refArchive + string(id); other != ref {
		switch head, err := s.odb.ReadRef(other); {
		case err == nil:
			updates = append(updates, odb.RefUpdate{Ref: other, Old: head})
		case !errors.Is(err, odb.ErrRefNotFound):
			return fmt.Errorf("delete %s: %w", id, storeError(err))
		}
	}
	payload, err := s.payloadHead(id)
	if err != nil {
		return err
	}
	if payload != "" { // first: a payload that a kill left behind alone would be nobody's
		updates = append([]odb.RefUpdate{{Ref: refPayloads + string(id), Old: payload}}, updates...)
	}
	if err := s.odb.Transaction(ctx, updates); err != nil {
		return fmt.Errorf("delete %s: %w", id, storeError(err))
	}
	if err := s.dropSidecar(id); err != nil {
		return fmt.Errorf("delete what is kept of %s for searching: %w", id, err)
	}
	return nil
}
