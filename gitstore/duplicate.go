package gitstore

import (
	"errors"
	"fmt"

	"jp/conversation"
)

// A Duplicate is the other ref with the id of a conversation: the one in the other scope.
type Duplicate struct {
	ID   conversation.ID
	Ref  string
	Head conversation.Head
	Err  error // a [DuplicateIDError] if the ref has events of its own, else nil
}

// DuplicateOf returns the second ref of a conversation that is both live and archived, else nil.
func (s *Store) DuplicateOf(id conversation.ID) (*Duplicate, error) {
	w, err := s.refs.locate(id)
	if err != nil || w.other.Name == "" {
		return nil, err
	}
	return &Duplicate{ID: id, Ref: w.other.Name, Head: conversation.Head(w.other.OID), Err: w.apartError(id)}, nil
}

// Duplicates are those of all conversations.
func (s *Store) Duplicates() ([]Duplicate, error) {
	live, err := s.odb.RefNames(refLive)
	archived, otherErr := s.odb.RefNames(refArchive)
	if err := errors.Join(err, otherErr); err != nil {
		return nil, fmt.Errorf("list conversations: %w", storeError(err))
	}
	var all []Duplicate
	for _, name := range live {
		id := named(name).ID
		if !names(name, conversation.ScopeLive) || !has(archived, refArchive, id) {
			continue
		}
		if second, err := s.DuplicateOf(id); err == nil && second != nil { // its error is one of the conversation
			all = append(all, *second)
		}
	}
	return all, nil
}
