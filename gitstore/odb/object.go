package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// ReadObject gives an object's kind and content, whose hash has been checked.
// It looks at the loose objects, then at packs and alternates, then at what
// another process may have packed meanwhile, and asks git last. It never
// fetches: what a partial clone has left out is ErrObjectMissing.
func (s *Store) ReadObject(oid OID) (kind string, data []byte, err error) {
	if !isHex(string(oid)) {
		return "", nil, fmt.Errorf("read object: %w: %q", ErrOID, oid)
	}
	kind, data, err = s.looseObject(oid)
	if err == nil {
		return kind, data, nil
	}
	loose := err
	if kind, data, err = s.storedObject(oid, loose); err == nil {
		return kind, data, nil
	}
	if errors.Is(err, ErrObjectMissing) && !errors.Is(loose, fs.ErrNotExist) {
		err = loose // damaged here and whole nowhere
	}
	return "", nil, fmt.Errorf("read object %s: %w", oid, classify(err))
}

// storedObject looks everywhere else, after what looking at the loose object
// has said. With a damaged one only git is asked: it prefers packs and checks
// sizes, where go-git would inflate whatever the damaged file holds.
func (s *Store) storedObject(oid OID, loose error) (kind string, data []byte, err error) {
	err = ErrObjectCorrupt
	if errors.Is(loose, fs.ErrNotExist) {
		kind, data, err = s.packs.read(s, oid)
	}
	if errors.Is(err, ErrObjectMissing) || errors.Is(err, ErrObjectCorrupt) {
		kind, data, err = s.child.read(s, oid)
	}
	if err != nil {
		return "", nil, err
	}
	if HashObject(kind, data) != oid {
		return "", nil, fmt.Errorf("%w: its bytes have another name", ErrObjectCorrupt)
	}
	return kind, data, nil
}

// Has says whether an object can be read here without fetching it. It does
// not check the object's bytes.
func (s *Store) Has(oid OID) (bool, error) {
	if !isHex(string(oid)) {
		return false, fmt.Errorf("look for object: %w: %q", ErrOID, oid)
	}
	if info, err := s.objects.Stat(oid.file()); err == nil && info.Size > 0 {
		return true, nil
	}
	if s.packs.has(s, oid) {
		return true, nil
	}
	_, _, err := s.child.info(context.Background(), s, oid)
	if errors.Is(err, ErrObjectMissing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for object %s: %w", oid, err)
	}
	return true, nil
}
