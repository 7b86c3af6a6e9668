package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadObject returns an object's kind and content, and checks its hash. It looks in the pack of the last
// object, at the loose objects, then at packs, alternates and new packs of other processes, and asks git
// last. It never fetches: an object that a partial clone has left out is ErrObjectMissing.
func (s *Store) ReadObject(oid OID) (kind string, data []byte, err error) {
	if !isName(string(oid), s.opts.Format) {
		return "", nil, fmt.Errorf("read object: %w: %q", ErrOID, oid)
	}
	if kind, data, err = s.readHere(oid, true); err == nil {
		return kind, data, nil
	}
	return s.readElsewhere(oid, err)
}

// readElsewhere is ReadObject after reading the loose object has failed with the error loose.
func (s *Store) readElsewhere(oid OID, loose error) (kind string, data []byte, err error) {
	if kind, data, err = s.storedObject(oid, loose); err == nil {
		return kind, data, nil
	}
	if errors.Is(err, ErrObjectMissing) && !errors.Is(loose, fs.ErrNotExist) {
		err = loose // damaged here and missing elsewhere
	}
	return "", nil, fmt.Errorf("read object %s: %w", oid, classify(err))
}

// readHere reads an object from the pack of the last one, or loose: most are there. The error is that of
// the loose one.
func (s *Store) readHere(oid OID, prove bool) (kind string, data []byte, err error) {
	if c := s.collected.Load(); c != nil {
		if kind, data, ok := c.read(oid); ok {
			return kind, data, nil
		}
	}
	if s.packs.last.Load() != nil {
		if kind, data, err = s.packs.known(oid, s.opts.MaxObject, prove); err == nil {
			return kind, data, nil
		}
	}
	if kind, data, err = s.looseObject(oid, prove); err == nil {
		s.packs.last.Store(nil)
	}
	return kind, data, err
}

// ReadUnverified is ReadObject for a caller that checks the hash itself if proven is false. It does so with
// Names, and reads an object of another name with ReadObject. So one goroutine can read while another one
// checks.
func (s *Store) ReadUnverified(oid OID) (kind string, data []byte, proven bool, err error) {
	if !isName(string(oid), s.opts.Format) {
		kind, data, err = s.ReadObject(oid)
		return kind, data, true, err
	}
	if kind, data, err = s.readHere(oid, false); err == nil {
		return kind, data, false, nil
	}
	kind, data, err = s.readElsewhere(oid, err)
	return kind, data, true, err
}

// Names reports whether an object with this kind and content has the name.
func (s *Store) Names(oid OID, kind string, data []byte) bool {
	h, ok := s.hashers.Get().(*hasher)
	if !ok {
		h = new(hasher)
	}
	defer s.hashers.Put(h)
	return isName(string(oid), s.opts.Format) && h.names(s.opts.Format, oid.raw(), kind, data)
}

// storedObject looks everywhere else, after looking at the loose object has failed. After damage it asks
// only git for the rest: git checks sizes, while go-git would inflate all of a damaged file, and believe
// the size that an index gives for itself.
func (s *Store) storedObject(oid OID, loose error) (kind string, data []byte, err error) {
	s.packs.open(s.objectDirs, s.opts.Format)
	kind, data, err = s.packs.read(oid, s.opts.MaxObject)
	if err == nil || errors.Is(err, ErrObjectTooLarge) {
		return kind, data, err
	}
	fault := err
	if kind, data, err = s.borrowedObject(oid); err == nil {
		return kind, data, nil
	}
	whole := errors.Is(loose, fs.ErrNotExist) && errors.Is(fault, ErrObjectMissing) && errors.Is(err, fs.ErrNotExist)
	err = ErrObjectMissing
	if whole && s.packs.foreign.Load() {
		kind, data, err = s.others.read(s, oid)
	}
	if errors.Is(err, ErrObjectMissing) || errors.Is(err, ErrObjectCorrupt) {
		kind, data, err = s.child.read(s, oid)
	}
	if errors.Is(err, ErrObjectMissing) {
		err = fault // damaged in a pack, if it is in one
	}
	if err != nil {
		return "", nil, err
	}
	if HashObject(s.opts.Format, kind, data) != oid {
		return "", nil, fmt.Errorf("%w: its bytes have another name", ErrObjectCorrupt)
	}
	return kind, data, nil
}

// objectDirs gives the directories that objects are in, our own first.
func (s *Store) objectDirs() []string {
	s.places.Do(func() { s.dirNames = objectDirs(filepath.Join(s.dir, "objects")) })
	return s.dirNames
}

// blocks reports whether another kind of file, such as a pipe, has the name of an object's loose file,
// on which git would wait for good.
func (s *Store) blocks(oid OID) bool {
	for _, dir := range s.objectDirs() {
		info, err := os.Stat(filepath.Join(dir, oid.file()))
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return true
		}
	}
	return false
}

// borrows reports whether an object lies loose in another's directory.
func (s *Store) borrows(oid OID) bool {
	for _, dir := range s.objectDirs()[1:] {
		if info, err := os.Lstat(filepath.Join(dir, oid.file())); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return true
		}
	}
	return false
}

// Has reports whether the object can be read here without fetching it. It does not check the object's
// bytes.
func (s *Store) Has(oid OID) (bool, error) {
	if !isName(string(oid), s.opts.Format) {
		return false, fmt.Errorf("look for object: %w: %q", ErrOID, oid)
	}
	if info, err := s.objects.Stat(oid.file()); err == nil && info.Size > 0 {
		return true, nil
	}
	if c := s.collected.Load(); c != nil {
		if _, _, ok := c.read(oid); ok {
			return true, nil
		}
	}
	s.packs.open(s.objectDirs, s.opts.Format)
	if s.packs.has(oid) || s.borrows(oid) || s.packs.foreign.Load() && s.others.has(s, oid) {
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

// Packed reports whether a readable pack here names the object. For packs with other index versions it
// reports false for loose objects.
func (s *Store) Packed(oid OID) bool {
	if !isName(string(oid), s.opts.Format) {
		return false
	}
	s.packs.open(s.objectDirs, s.opts.Format)
	if s.packs.has(oid) {
		return true
	}
	if !s.packs.foreign.Load() {
		return false
	}
	_, err := s.objects.Stat(oid.file())
	return err != nil && s.others.has(s, oid)
}
