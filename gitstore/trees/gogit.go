package trees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"jp/gitstore/odb"
)

// NewGoGit returns a Reader that reads in process, with go-git, the objects of a store. It
// reads SHA-1 objects: go-git has one digest size per binary.
func NewGoGit(objects Objects) Reader { return newReader(stored{objects}, decodeGoGit) }

// stored are the objects of a store.
type stored struct{ Objects }

func (stored) close() error { return nil }

func (s stored) read(_ context.Context, oid, want string) ([]byte, error) {
	kind, data, err := s.ReadObject(oid)
	switch {
	case errors.Is(err, odb.ErrObjectMissing):
		return nil, fmt.Errorf("read %s %s: %w", want, oid, ErrMissing)
	case errors.Is(err, odb.ErrObjectTooLarge):
		return nil, fmt.Errorf("read %s %s: %w: %w", want, oid, ErrTooLarge, err)
	case errors.Is(err, odb.ErrOID), errors.Is(err, odb.ErrObjectCorrupt):
		return nil, fmt.Errorf("read %s %s: %w: %w", want, oid, ErrMalformed, err)
	case err != nil:
		return nil, fmt.Errorf("read %s %s: %w", want, oid, err)
	case kind != want:
		return nil, fmt.Errorf("read %s %s: %w: it is a %s", want, oid, ErrMalformed, kind)
	}
	return data, nil
}

func decodeGoGit(oid string, data []byte) ([]Entry, error) {
	t, err := object.DecodeTree(nil, &encoded{oid: plumbing.NewHash(oid), data: data})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	entries := make([]Entry, len(t.Entries))
	for i, e := range t.Entries {
		entries[i] = Entry{Name: e.Name, Version: Version{Mode: modeOf(e.Mode), OID: e.Hash.String()}}
	}
	return entries, nil
}

// modeOf is a mode as git shows it. go-git has made it one of the five.
func modeOf(m filemode.FileMode) string {
	switch m {
	case filemode.Dir:
		return ModeFolder
	case filemode.Regular:
		return ModeFile
	case filemode.Executable:
		return ModeExec
	case filemode.Symlink:
		return ModeLink
	}
	return ModeSubmodule
}

// encoded is a tree as go-git takes it. The store has checked its bytes against its name.
type encoded struct {
	plumbing.MemoryObject
	oid  plumbing.Hash
	data []byte
}

func (e *encoded) Hash() plumbing.Hash            { return e.oid }
func (e *encoded) Type() plumbing.ObjectType      { return plumbing.TreeObject }
func (e *encoded) Size() int64                    { return int64(len(e.data)) }
func (e *encoded) Reader() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(e.data)), nil }
