package gitstore

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// A commitReader reads the commits of conversations as events. Goroutines may share it.
type commitReader struct {
	odb      *odb.Store
	format   gitcmd.ObjectFormat
	mac      *signer
	handed   *handed
	dir      string                     // the git directory
	lastHome atomic.Pointer[parsedHome] // of the event that was read last
}

// A stored is an object as the store gave it.
type stored struct {
	oid    odb.OID
	kind   string
	object []byte
	proven bool // its bytes have its name
	err    error
}

func (r *commitReader) stored(oid odb.OID) stored {
	kind, object, err := r.odb.ReadObject(oid)
	return stored{oid: oid, kind: kind, object: object, proven: true, err: err}
}

// storedUnverified is stored for a caller that checks the hash.
func (r *commitReader) storedUnverified(oid odb.OID) stored {
	kind, object, proven, err := r.odb.ReadUnverified(oid)
	return stored{oid: oid, kind: kind, object: object, proven: proven, err: err}
}

// checkName reads an object again if its bytes do not have its name.
func (r *commitReader) checkName(o stored) stored {
	if o.proven || o.err != nil || r.odb.Names(o.oid, o.kind, o.object) {
		return o
	}
	return r.stored(o.oid)
}

// read reads one commit as an event. For any other commit the link has the known parts, or is nil.
func (r *commitReader) read(oid odb.OID) (*parsedCommit, error) { return r.parse(r.stored(oid)) }

// parse decodes an object of the store as an event.
func (r *commitReader) parse(o stored) (*parsedCommit, error) {
	name := string(o.oid)
	switch err := o.err; {
	case errors.Is(err, odb.ErrObjectMissing), errors.Is(err, odb.ErrObjectTooLarge):
		return nil, &DamageError{Commit: name, Seq: -1, Err: fmt.Errorf("%w: %w", conversation.ErrDamaged, err)}
	case err != nil:
		return nil, damageOr(fmt.Errorf("read commit %.10s: %w", name, storeError(err)), &parsedCommit{oid: o.oid, seq: -1})
	case o.kind != "commit":
		return nil, &DamageError{Commit: name, Seq: -1, Err: fmt.Errorf("%w: it is a %s", conversation.ErrDamaged, o.kind)}
	}
	l, err := r.decode(o.oid, o.object)
	if err != nil {
		return l, &DamageError{Commit: name, Seq: l.seq, Err: err}
	}
	return l, nil
}

// load takes a walk to the first event and returns the events oldest first. Damage is returned with the events below it.
func (r *commitReader) load(ctx context.Context, w *walk) ([]*parsedCommit, error) {
	var damage *DamageError
	var links []*parsedCommit // newest first
	w.goAhead()
	defer w.stop()
	for !w.done {
		l, err := w.step(ctx)
		var found *DamageError
		switch {
		case errors.As(err, &found):
			// The user's own history below a damaged first event is not damage.
			if damage == nil || len(links) > 0 || !errors.Is(found, errNotEvent) {
				damage = found
			}
			links = nil // nothing above damage is reliable
		case errors.Is(err, ErrShallow) && damage != nil:
			return nil, damage
		case err != nil:
			return nil, err
		default:
			links = append(links, l)
		}
	}
	slices.Reverse(links)
	if damage != nil {
		damage.Good = len(links)
		return links, damage
	}
	return links, nil
}

// isShallow reports whether the history ends at the commit because the rest was
// not fetched.
func (r *commitReader) isShallow(oid odb.OID) bool {
	f, err := os.Open(filepath.Join(r.dir, "shallow"))
	if err != nil || oid == "" {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if lines.Text() == string(oid) {
			return true
		}
	}
	return false
}

// payload reads the content of a payload; ok is false if it is absent. Content that does not match the
// event is damage.
func (r *commitReader) payload(p conversation.Payload) (data []byte, ok bool, err error) {
	oid, err := odb.ParseOID(p.OID)
	if err != nil {
		return nil, false, fmt.Errorf("%w: payload %s: %w", conversation.ErrDamaged, p.Name, err)
	}
	if !r.format.IsName(p.OID) { // another repository may have it
		return nil, false, nil
	}
	kind, data, err := r.odb.ReadObject(oid)
	if errors.Is(err, odb.ErrObjectMissing) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read payload %s: %w", p.Name, storeError(err))
	}
	sum := sha256.Sum256(data)
	if kind != "blob" || int64(len(data)) != p.Bytes || hex.EncodeToString(sum[:]) != p.SHA256 {
		return nil, false, fmt.Errorf("%w: payload %s is not what the event says", conversation.ErrDamaged, p.Name)
	}
	return data, true, nil
}

// fill gives an event the text and the provider state that its message and its headers could not hold. An
// absent payload is marked, and the event keeps the beginning.
func (r *commitReader) fill(e *conversation.Event) error {
	for i, p := range e.Payloads {
		if p.Name != conversation.PayloadText && p.Name != conversation.PayloadProvider {
			continue
		}
		data, ok, err := r.payload(p)
		if err != nil {
			return err
		}
		switch {
		case !ok:
			e.Payloads[i].Absent = true
		case p.Name == conversation.PayloadText:
			e.SetText(string(data))
		case conversation.CheckJSON(data) == nil:
			e.Provider = data
		}
	}
	return nil
}
