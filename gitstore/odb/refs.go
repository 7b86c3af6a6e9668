package odb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// refKeeper keeps the refs of a Store. Names have passed CheckRefName.
type refKeeper interface {
	// read gives the value of a ref, as ReadRef.
	read(name string) (OID, error)
	// list gives the refs below a prefix, as ListRefs; unread, the values may be missing.
	list(prefix string, unread bool) ([]Ref, error)
	// listBeside gives the refs below a prefix, and the names below another, as ListBeside.
	listBeside(prefix, other string, known *KnownRefs) ([]Ref, []string, error)
	// write makes rest durable and moves the refs, as Write. The objects of first are durable.
	write(ctx context.Context, first, rest []Object, updates []RefUpdate) error
	// transaction moves refs, as Transaction.
	transaction(ctx context.Context, updates []RefUpdate) error
	close() error
}

// refs is how the refs are kept now.
func (s *Store) refs() refKeeper { return *s.keeper.Load() }

func (s *Store) keepRefs(k refKeeper) { s.keeper.Store(&k) }

// ReadRef returns the value of a ref. It fails with ErrRefNotFound if there is none, and with an
// *UnreadableRef if it names no object, or another ref.
func (s *Store) ReadRef(name string) (OID, error) {
	if err := CheckRefName(name); err != nil {
		return "", err
	}
	if c := s.collected.Load(); c != nil && c.refs[name] != "" {
		return c.refs[name], nil
	}
	oid, err := s.refs().read(name)
	if errors.Is(err, ErrRefNotFound) && s.migrated() {
		oid, err = s.refs().read(name)
	}
	return oid, err
}

// ListRefs returns the refs whose names start with prefix, sorted by name. The list has all readable refs,
// and the error names each unreadable one.
func (s *Store) ListRefs(prefix string) ([]Ref, error) {
	if !strings.HasPrefix(prefix, "refs/") {
		return nil, fmt.Errorf("%w: the prefix %q is not below refs/", ErrRefName, prefix)
	}
	s.migrated()
	return s.refs().list(prefix, false)
}

// ReadAhead is for refs that are read next, or for folders of them, whose names end with a slash: in a
// reftable one git tells of all. It fails if reading them will.
func (s *Store) ReadAhead(names ...string) {
	if r, is := s.refs().(throughGit); is && readTables(r.root) != "" {
		_, _, _ = r.each(names...) // a reader of the ref gets the error
	}
}

// RefNames lists the names of the refs below a prefix, sorted, and reads no value of a loose one: the file
// of a listed name may be broken.
func (s *Store) RefNames(prefix string) ([]string, error) {
	s.migrated()
	refs, err := s.refs().list(prefix, true)
	return refNames(refs), err
}

// ListBeside lists the refs below a prefix, as ListRefs, and then the names below another, without
// unlistable ones. If git keeps the refs, one git lists both. A non-nil known saves reading unchanged
// files.
func (s *Store) ListBeside(prefix, other string, known *KnownRefs) (refs []Ref, names []string, err error) {
	s.migrated()
	return s.refs().listBeside(prefix, other, known)
}

func refNames(refs []Ref) []string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.Name
	}
	return names
}

// migrated lets git keep the refs from now on if another process has moved them out of
// their files since the Store was opened, and reports whether it does so now.
func (s *Store) migrated() bool {
	if _, inFiles := s.refs().(fileRefs); !inFiles || s.opts.Git == nil {
		return false
	}
	if _, err := s.root.Stat(tableList); err != nil {
		return false
	}
	s.opts.Log.Warn("git keeps the refs in another format now; jp goes on through git")
	s.keepThroughGit()
	return true
}

// PrepareWrite starts the preparations of a Write, so that the caller can do something else meanwhile.
func (s *Store) PrepareWrite() {
	if r, is := s.refs().(throughGit); is {
		r.prepare()
	}
}

// throughGit are refs that git keeps.
type throughGit struct {
	*gitRefs
	store *Store
}

func (s *Store) keepThroughGit() {
	s.keepRefs(throughGit{store: s, gitRefs: &gitRefs{gitRefOptions: gitRefOptions{
		git: s.opts.Git, env: s.gitEnv(), format: s.opts.Format, flush: s.opts.Durability != Off,
		root: s.root, log: s.opts.Log, now: s.opts.Now, lockTimeout: s.opts.LockTimeout,
		resolve:   func(name string) (OID, error) { return s.child.resolve(s, name) },
		breakLock: s.breakLock, probe: s.probe, poison: s.failStop,
	}}})
}

// write publishes the objects first, since git moves a ref only to an object that it finds.
// On a file system with an order of its own the flush of the refs makes them durable.
func (r throughGit) write(ctx context.Context, first, rest []Object, updates []RefUpdate) error {
	s := r.store
	if len(updates) == 0 {
		return s.writeSome(ctx, rest)
	}
	w := &write{store: s, flushes: s.flushes()}
	defer w.abandon()
	if err := w.stage(rest); err != nil {
		return err
	}
	if err := w.publish(ctx); err != nil {
		return err
	}
	if err := s.rewriteLost(ctx, first); err != nil {
		return err
	}
	return r.moveDurably(ctx, updates, func(ctx context.Context) error { return s.rewriteLost(ctx, slices.Concat(first, rest)) })
}

func (r throughGit) transaction(ctx context.Context, updates []RefUpdate) error {
	return r.moveDurably(ctx, updates, func(context.Context) error { return nil })
}

func (r throughGit) moveDurably(ctx context.Context, updates []RefUpdate, restore func(context.Context) error) error {
	if _, err := r.store.sharing(); err != nil {
		return fmt.Errorf("move refs: %w", err)
	}
	if err := r.move(ctx, updates, restore); err != nil {
		return err
	}
	return r.store.syncRefs(updates)
}

// fileRefs are refs in files, written with git's own lock protocol.
type fileRefs struct{ store *Store }

func (fileRefs) close() error { return nil }
