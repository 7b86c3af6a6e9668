package gitstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Arrivals take over conversations that this user wrote on other machines.
type Arrivals struct{ Store *Store }

// Hand records that the events of a conversation up to a head, back to the user's newest adoption in it, are this
// user's own, written on another machine. Each of them has to be readable.
func (a Arrivals) Hand(ctx context.Context, head conversation.Head) error {
	s, h := a.Store, a.Store.commits.handed
	repo, err := s.repository(true)
	if err != nil {
		return err
	}
	if h.dir == "" || !h.mac.can() {
		return fmt.Errorf("there is no place for the events of other machines: %w", fs.ErrNotExist)
	}
	var records bytes.Buffer
	for e, err := range s.Backward(ctx, head) {
		if err != nil {
			return err
		}
		hash, err := hex.DecodeString(e.Commit)
		if err != nil {
			return err
		}
		code := h.code(repo, hash)
		if !e.Signed {
			records.Write(hash)
			records.Write(code[:])
		}
		if b, is := e.Body.(*conversation.ForkOrigin); is && b.Adopted {
			break
		}
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(h.dir, repo), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if at, err := f.Seek(0, 2); err == nil { // a kill may have torn the last record
		if torn := at % int64(h.size+handedCode); torn != 0 {
			err = f.Truncate(at - torn)
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	_, err = f.Write(records.Bytes())
	err = errors.Join(err, f.Sync(), f.Close())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read = false
	return err
}

// Take sets a conversation to a head that was fetched, under a ref, live or archived. was is the conversation as it is
// here, zero if there is none. The new head reaches that of here, unless a fork has the events of here. payload is
// the head of its payload, or "".
func (a Arrivals) Take(ctx context.Context, was conversation.Info, ref string, head conversation.Head, payload string, forked bool) error {
	s := a.Store
	id, err := conversation.ParseID(ref[strings.LastIndexByte(ref, '/')+1:])
	if err != nil {
		return err
	}
	if was.Head != "" && !forked && !s.ancestry.reaches(odb.OID(head), odb.OID(was.Head)) {
		return fmt.Errorf("%w: %.10s does not come after %.10s", conversation.ErrHeadMoved, head, was.Head)
	}
	var updates []odb.RefUpdate
	if payload != "" {
		old, err := s.refs.payloadHead(id)
		if err != nil {
			return err
		}
		if old != odb.OID(payload) {
			updates = append(updates, odb.RefUpdate{Ref: refPayloads + string(id), Old: old, New: odb.OID(payload)})
		}
	}
	moved := odb.RefUpdate{Ref: ref, Old: odb.OID(was.Head), New: odb.OID(head)}
	if was.Ref != "" && was.Ref != ref {
		moved.Old = ""
		updates = append(updates, moved, odb.RefUpdate{Ref: was.Ref, Old: odb.OID(was.Head)})
	} else {
		updates = append(updates, moved)
	}
	if err := s.odb.Transaction(ctx, updates); err != nil {
		return fmt.Errorf("take over %s: %w", id, storeError(err))
	}
	s.heads.saw(id, odb.OID(head))
	return nil
}

// Deleted reports whether the user deleted a conversation here.
func (a Arrivals) Deleted(id conversation.ID) bool { return a.Store.heads.deletedByJP(id) }

// Reaches reports whether a head is an event, or comes after it.
func (a Arrivals) Reaches(head, event conversation.Head) bool {
	return a.Store.ancestry.reaches(odb.OID(head), odb.OID(event))
}
