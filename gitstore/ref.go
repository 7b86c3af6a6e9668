package gitstore

import (
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Refs of conversations.
const (
	refRoot     = "refs/jp/"
	refLive     = refRoot + "conversations/"
	refArchive  = refRoot + "archive/"
	refPayloads = refRoot + "payloads/"
	refRemotes  = refRoot + "remotes/"
)

// belowRemote is where payload is kept that was fetched from a remote, in the namespace of
// that remote.
const belowRemote = "/payloads/"

// PayloadRefs are the refs that keep a conversation's payload: at a remote, and here once
// it was fetched from there.
func PayloadRefs(remote string, id conversation.ID) (there, here string) {
	return refPayloads + string(id), refRemotes + remote + belowRemote + string(id)
}

// KeepsPayload reports whether the commits of a ref keep payload and are no events.
func KeepsPayload(ref string) bool {
	if strings.HasPrefix(ref, refPayloads) {
		return true
	}
	rest, ok := strings.CutPrefix(ref, refRemotes)
	i := strings.LastIndexByte(rest, '/')
	return ok && i >= 0 && strings.HasSuffix(rest[:i+1], belowRemote)
}

// RefOf is the ref of a live conversation.
func RefOf(id conversation.ID) string { return refLive + string(id) }

// owner is the conversation of this repository that a ref belongs to: its own, or
// that of its payload.
func owner(ref string) (id conversation.ID, ok bool) {
	for _, prefix := range []string{refLive, refArchive, refPayloads} {
		if name, found := strings.CutPrefix(ref, prefix); found {
			id, err := conversation.ParseID(name)
			return id, err == nil
		}
	}
	return "", false
}

// names reports whether a ref is a conversation's in a scope.
func names(ref string, scope conversation.Scope) bool {
	rest, ok := strings.CutPrefix(ref, refRoot+string(scope)+"/")
	if KeepsPayload(ref) {
		return false
	}
	if i := strings.LastIndexByte(rest, '/'); i >= 0 && scope == conversation.ScopeRemotes {
		rest = rest[i+1:]
	}
	_, err := conversation.ParseID(rest)
	return ok && err == nil
}

// named is what the name of a conversation's ref says of it.
func named(ref string) conversation.Info {
	i := strings.LastIndexByte(ref, '/')
	info := conversation.Info{ID: conversation.ID(ref[i+1:]), Ref: ref}
	if remote, ok := strings.CutPrefix(ref[:i], refRemotes); ok {
		info.Remote = remote
	}
	return info
}

// find returns the ref of a conversation, live or archived, and its head.
func (s *Store) find(id conversation.ID) (ref string, head odb.OID, err error) {
	w, err := s.locate(id)
	return w.Name, w.OID, err
}

// checkThere fails if there is no such conversation; "" asks for none.
func (s *Store) checkThere(id conversation.ID) error {
	if id == "" {
		return nil
	}
	if _, err := conversation.ParseID(string(id)); err != nil {
		return err
	}
	if _, err := s.odb.ReadRef(refLive + string(id)); err == nil {
		return nil
	}
	_, _, err := s.find(id)
	return err
}

// CheckRefs looks whether packed-refs hides refs from git or from us.
func (s *Store) CheckRefs() error { return s.odb.CheckPackedRefs() }

// checkFree fails if the id is in use anywhere.
func (s *Store) checkFree(id conversation.ID) error {
	if _, err := conversation.ParseID(string(id)); err != nil {
		return err
	}
	for _, prefix := range []string{refLive, refArchive, refPayloads} {
		_, err := s.odb.ReadRef(prefix + string(id))
		var packed *odb.PackedRefsError
		switch {
		case errors.Is(err, odb.ErrRefNotFound):
		case errors.As(err, &packed): // of which ref it says something is not known
			return fmt.Errorf("conversation %s: %w", id, storeError(err))
		case err == nil, errors.Is(err, odb.ErrRefBroken), errors.Is(err, odb.ErrRefSymbolic):
			return fmt.Errorf("conversation %s: %w", id, conversation.ErrExists)
		default:
			return fmt.Errorf("conversation %s: %w", id, storeError(err))
		}
	}
	remotes, err := s.odb.ListRefs(refRemotes)
	broken, err := unreadable(err)
	if err != nil {
		return storeError(err)
	}
	for _, b := range broken {
		remotes = append(remotes, odb.Ref{Name: b.Ref})
	}
	for _, r := range remotes {
		if strings.HasSuffix(r.Name, "/"+string(id)) {
			return fmt.Errorf("conversation %s of a remote: %w", id, conversation.ErrExists)
		}
	}
	return nil
}

// unreadable takes the refs that cannot be read out of an error of ListRefs:
// they are no reason not to list the others.
func unreadable(err error) (broken []*odb.UnreadableRef, rest error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var ref *odb.UnreadableRef
		if errors.As(err, &ref) {
			broken = append(broken, ref)
		} else {
			rest = errors.Join(rest, err)
		}
	}
	return broken, rest
}

// Payloads is the ref that keeps a conversation's payload, and what it names;
// "" where the conversation has none.
func (s *Store) Payloads(id conversation.ID) (ref, head string, err error) {
	oid, err := s.payloadHead(id)
	if err != nil || oid == "" {
		return "", "", err
	}
	return refPayloads + string(id), string(oid), nil
}

// payloadHead is the newest commit of a conversation's payload, or "".
func (s *Store) payloadHead(id conversation.ID) (odb.OID, error) {
	head, err := s.odb.ReadRef(refPayloads + string(id))
	if errors.Is(err, odb.ErrRefNotFound) {
		return "", nil
	}
	return head, storeError(err)
}
