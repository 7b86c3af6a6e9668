package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitstore/odb"
)

// A Lost payload is missing content of one of this user's events. Every other repository lacks it too: no
// remote has the conversation.
type Lost struct {
	Event   *conversation.Event
	Payload conversation.Payload
}

func (l Lost) String() string {
	return fmt.Sprintf("its payload %s (%d bytes, blob %.10s) is missing: this repository had it alone, as no fetched remote has this conversation", l.Payload.Name, l.Payload.Bytes, l.Payload.OID)
}

// LostOf are the lost payloads of a conversation's events, from some event to the
// newest. A missing payload is absent rather than lost if it may be elsewhere: a remote
// has the conversation, the source of the fork is remote or gone, the event is someone
// else's, or the clone is partial.
func (s *Store) LostOf(id conversation.ID, events []*conversation.Event) (lost []Lost, err error) {
	for _, e := range events {
		for _, p := range e.Payloads {
			there, err := s.odb.Has(odb.OID(p.OID))
			if err == nil && !there && p.Bytes > 0 {
				lost = append(lost, Lost{e, p})
			}
		}
	}
	if len(lost) == 0 || s.PartialClone() {
		return nil, nil
	}
	only, err := s.onlyHere(id, events)
	return slices.DeleteFunc(lost, func(l Lost) bool { return !only(l.Event) }), err
}

// onlyHere tells events of this user's that no remote can have.
func (s *Store) onlyHere(id conversation.ID, events []*conversation.Event) (func(*conversation.Event) bool, error) {
	remotes, err := s.Heads(conversation.ScopeRemotes)
	if err != nil {
		return func(*conversation.Event) bool { return false }, err
	}
	elsewhere := func(id conversation.ID) bool {
		return slices.ContainsFunc(remotes, func(i conversation.Info) bool { return i.ID == id })
	}
	forked := -1 // the newest event that may have come from elsewhere
	for _, e := range events {
		if origin, is := e.Body.(*conversation.ForkOrigin); is && (elsewhere(origin.Conversation) || s.refs.checkThere(origin.Conversation) != nil) {
			forked = e.Seq
		}
	}
	pushed := elsewhere(id)
	return func(e *conversation.Event) bool { return e.Signed && !pushed && e.Seq > forked }, nil
}

// PartialClone reports whether git may have left objects out here that a remote has.
func (s *Store) PartialClone() bool {
	packs, err := os.ReadDir(filepath.Join(s.repo.CommonDir, "objects", "pack"))
	return err == nil && slices.ContainsFunc(packs, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".promisor") })
}

// Keep restores the ref that keeps a conversation's payload, if the ref is gone and the payload is still
// here: git would delete the payload sooner or later. at is the newest event.
func (s *Store) Keep(ctx context.Context, id conversation.ID, at conversation.Head) error {
	head, err := s.parseHead(at)
	if err != nil {
		return err
	}
	if was, err := s.refs.payloadHead(id); err != nil || was != "" {
		return err
	}
	objects, payload, err := s.payloads.keepBelow(ctx, head)
	if err != nil || payload == "" {
		return err
	}
	err = s.odb.Write(ctx, odb.Batch{Objects: objects, Updates: []odb.RefUpdate{{Ref: refPayloads + string(id), New: payload}}})
	if err != nil && !errors.Is(err, odb.ErrRefExists) { // another process has made it
		return fmt.Errorf("keep the payload of %s: %w", id, storeError(err))
	}
	return nil
}
