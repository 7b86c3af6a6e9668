package gitstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitstore/odb"
)

// whereabouts are where a conversation is. A kill in the middle of a move into the
// archive or out of it, or a fetch that brings back what was moved, leaves two refs.
type whereabouts struct {
	odb.Ref         // what the conversation is
	other   odb.Ref // the second one; no name where there is none
	apart   bool    // the second one has events that the first has not
	err     error   // why the second one cannot be read
}

// settled decides between two refs of a conversation: the ref whose head reaches the
// other has all events. If neither does, both have events of their own. The live ref
// precedes the archived one.
func settled(live, archived odb.Ref, reaches func(head, event odb.OID) bool) whereabouts {
	switch {
	case reaches(live.OID, archived.OID):
		return whereabouts{Ref: live, other: archived}
	case reaches(archived.OID, live.OID):
		return whereabouts{Ref: archived, other: live}
	}
	return whereabouts{Ref: live, other: archived, apart: true}
}

// locate finds a conversation, live or archived. Objects are read only where it is
// both.
func (s *Store) locate(id conversation.ID) (whereabouts, error) {
	if _, err := conversation.ParseID(string(id)); err != nil {
		return whereabouts{}, err
	}
	live, archived := odb.Ref{Name: refLive + string(id)}, odb.Ref{Name: refArchive + string(id)}
	var err, second error
	live.OID, err = s.odb.ReadRef(live.Name)
	if err != nil && !errors.Is(err, odb.ErrRefNotFound) {
		return whereabouts{Ref: live}, fmt.Errorf("conversation %s: %w", id, storeError(err))
	}
	archived.OID, second = s.odb.ReadRef(archived.Name)
	switch {
	case err == nil && second == nil:
		return settled(live, archived, s.reaches), nil
	case err == nil && errors.Is(second, odb.ErrRefNotFound):
		return whereabouts{Ref: live}, nil
	case err == nil: // of the live one that says nothing
		return whereabouts{Ref: live, err: second}, nil
	case second == nil:
		return whereabouts{Ref: archived}, nil
	case errors.Is(second, odb.ErrRefNotFound): // it may be on its way back to the live ones
		if live.OID, second = s.odb.ReadRef(live.Name); second == nil {
			return whereabouts{Ref: live}, nil
		}
		archived = live
	}
	return whereabouts{Ref: archived}, fmt.Errorf("conversation %s: %w", id, storeError(second))
}

// apartError is a [TwiceError], nil where one head reaches the other or there is one.
func (w whereabouts) apartError(id conversation.ID) error {
	if !w.apart {
		return nil
	}
	return &TwiceError{ID: id, Live: conversation.Head(w.OID), Archived: conversation.Head(w.other.OID)}
}

// A Second is what else has the id of a conversation: the ref in the other scope.
type Second struct {
	ID   conversation.ID
	Ref  string
	Head conversation.Head
	Err  error // a [TwiceError] where it has events of its own, else nil
}

// Second finds out whether a conversation is both live and archived; nil where it is
// not.
func (s *Store) Second(id conversation.ID) (*Second, error) {
	w, err := s.locate(id)
	if err != nil || w.other.Name == "" {
		return nil, err
	}
	return &Second{ID: id, Ref: w.other.Name, Head: conversation.Head(w.other.OID), Err: w.apartError(id)}, nil
}

// Seconds are those of all conversations.
func (s *Store) Seconds() ([]Second, error) {
	live, err := s.odb.RefNames(refLive)
	archived, otherErr := s.odb.RefNames(refArchive)
	if err := errors.Join(err, otherErr); err != nil {
		return nil, fmt.Errorf("list conversations: %w", storeError(err))
	}
	var all []Second
	for _, name := range live {
		id := named(name).ID
		if !names(name, conversation.ScopeLive) || !has(archived, refArchive, id) {
			continue
		}
		if second, err := s.Second(id); err == nil && second != nil { // what cannot be read is told of the conversation
			all = append(all, *second)
		}
	}
	return all, nil
}

// has reports whether a sorted list has the name of an id behind a prefix.
func has(sorted []string, prefix string, id conversation.ID) bool {
	_, found := slices.BinarySearchFunc(sorted, string(id), func(name, id string) int {
		return strings.Compare(strings.TrimPrefix(name, prefix), id)
	})
	return found
}

// elsewhere says which refs of a scope are not what their conversations are: those of
// them that the other scope has, too. The refs were listed before.
func (s *Store) elsewhere(scope conversation.Scope) func(odb.Ref) bool {
	other := map[conversation.Scope]string{conversation.ScopeLive: refArchive, conversation.ScopeArchived: refLive}[scope]
	if other == "" {
		return func(odb.Ref) bool { return false }
	}
	there, _ := s.odb.RefNames(other) // what cannot be listed hides nothing
	return func(r odb.Ref) bool {
		id := named(r.Name).ID
		if !has(there, other, id) {
			return false
		}
		w, err := s.locate(id)
		return err == nil && w.Name != r.Name && w.other.Name == r.Name
	}
}

// A walked is how an event was looked for below a head, and its number.
type walked struct {
	head    odb.OID
	reached bool
	seq     int // -1 for what is no event
}

// maxWalked is how many of those are remembered.
const maxWalked = 1024

// reaches reports whether an event is one of those up to a head. It looks no further
// down than the event can be, and not again where it has looked.
func (s *Store) reaches(head, event odb.OID) bool {
	s.mu.Lock()
	before, known := s.walks[event]
	s.mu.Unlock()
	if !known {
		before = walked{head: event, reached: true, seq: s.seqOf(s.stored(event))}
	}
	now := walked{head: head, reached: s.descends(head, event, before), seq: before.seq}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.walks) >= maxWalked {
		clear(s.walks)
	}
	s.walks[event] = now
	return now.reached
}

// descends is reaches, with what is known of one head.
func (s *Store) descends(head, event odb.OID, before walked) bool {
	foreign := 0
	for oid := head; oid != "" && foreign <= maxForeign; {
		switch oid {
		case event:
			return true
		case before.head:
			return before.reached
		}
		o := s.stored(oid)
		seq := s.seqOf(o)
		if seq >= 0 && seq <= max(0, before.seq) {
			return false
		}
		if foreign++; seq >= 0 {
			foreign = 0
		}
		oid = firstParent(o.object)
	}
	return false
}

// seqOf is the number of a stored event, -1 for what is none.
func (s *Store) seqOf(o stored) int {
	if o.err != nil || o.kind != "commit" {
		return -1
	}
	c, err := parseCommit(o.object)
	if err != nil {
		return -1
	}
	seq, ok := conversation.HeaderSeq(c.data)
	if !ok {
		return -1
	}
	return seq
}
