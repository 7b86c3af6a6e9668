package gitstore

import (
	"context"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Archive appends the record and moves the conversation between the live and the
// archived ones, in one step. It completes an interrupted move, with the record of that
// time. If both places have events of their own it fails with a [DuplicateIDError].
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
	switch {
	case there == "" || s.ancestry.reaches(head, there) && head != there:
		return s.archive(ctx, id, odb.RefUpdate{Ref: from, Old: head}, odb.RefUpdate{Ref: to, Old: there}, record)
	case s.ancestry.reaches(there, head):
		err := s.odb.Transaction(ctx, []odb.RefUpdate{{Ref: from, Old: head}})
		return conversation.Head(there), archiveError(id, err)
	case archived:
		return "", &DuplicateIDError{ID: id, Live: conversation.Head(head), Archived: conversation.Head(there)}
	}
	return "", &DuplicateIDError{ID: id, Live: conversation.Head(there), Archived: conversation.Head(head)}
}

func archiveError(id conversation.ID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("archive %s: %w", id, storeError(err))
}

// archive appends the record to the conversation at from, and sets the new value of to.
func (s *Store) archive(ctx context.Context, id conversation.ID, from, to odb.RefUpdate, record *conversation.Event) (conversation.Head, error) {
	on, err := s.sidecars.tipPlace(ctx, from.Old, record)
	if err != nil {
		return "", fmt.Errorf("archive %s: %w", id, err)
	}
	g, err := s.groups.build([]*conversation.Event{record}, id, func() (odb.OID, error) { return s.refs.payloadHead(id) }, on)
	if err != nil {
		return "", err
	}
	if err := s.odb.Write(ctx, odb.Batch{Objects: g.objects}); err != nil {
		return "", archiveError(id, err)
	}
	to.New = g.end.parent
	s.odb.Watch(g.objects)
	updates := append(g.payloadUpdate(id), to, from)
	if err = s.odb.Transaction(ctx, updates); err != nil {
		// A prune may have taken the objects before they had a ref.
		if again, failed := s.odb.Restore(ctx); again && failed == nil {
			err = s.odb.Transaction(ctx, updates)
		}
	}
	if err != nil {
		return "", archiveError(id, err)
	}
	s.heads.saw(id, to.New)
	s.tips.remember(to.New, written(record, g.end, to.Ref), from.Old)
	return conversation.Head(to.New), nil
}

// EndMove removes the older of two refs, and reports whether it did. There are two after an interrupted
// move into the archive or out of it, or after a fetch that brought the old ref back.
func (s *Store) EndMove(ctx context.Context, id conversation.ID) (ended bool, err error) {
	w, err := s.refs.locate(id)
	switch {
	case err != nil:
		return false, err
	case w.err != nil:
		return false, archiveError(id, w.err)
	case w.apart:
		return false, w.apartError(id)
	case w.other.Name == "":
		return false, nil
	}
	err = s.odb.Transaction(ctx, []odb.RefUpdate{{Ref: w.other.Name, Old: w.other.OID}})
	return err == nil, archiveError(id, err)
}

// Delete removes a conversation, an older ref in the other scope, and the payload ref.
// If the other ref has events of its own it fails with a [DuplicateIDError].
func (s *Store) Delete(ctx context.Context, id conversation.ID, expect conversation.Head) error {
	w, err := s.refs.locate(id)
	switch {
	case err != nil:
		return err
	case w.err != nil:
		return fmt.Errorf("delete %s: %w", id, storeError(w.err))
	case w.apart:
		return w.apartError(id)
	case conversation.Head(w.OID) != expect:
		return fmt.Errorf("delete %s: %w", id, conversation.ErrHeadMoved)
	}
	updates := []odb.RefUpdate{{Ref: w.Name, Old: w.OID}}
	if w.other.Name != "" { // first: an older one that a kill left behind alone would be the conversation
		updates = append([]odb.RefUpdate{{Ref: w.other.Name, Old: w.other.OID}}, updates...)
	}
	payload, err := s.refs.payloadHead(id)
	if err != nil {
		return err
	}
	if payload != "" { // first: a payload ref that a kill left alone would belong to no conversation
		updates = append([]odb.RefUpdate{{Ref: refPayloads + string(id), Old: payload}}, updates...)
	}
	s.heads.sawEnd(id) // first: after a kill in between, jp deleted it all the same
	if err := s.odb.Transaction(ctx, updates); err != nil {
		if _, _, gone := s.refs.find(id); !errors.Is(gone, conversation.ErrNotFound) {
			s.heads.stays(id)
		}
		return fmt.Errorf("delete %s: %w", id, storeError(err))
	}
	if err := s.sidecars.drop(id); err != nil {
		return fmt.Errorf("delete what is kept of %s for searching: %w", id, err)
	}
	return nil
}
