package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"jp/gitcmd"
)

// packStore reads the objects that packSet cannot, in all object directories. Each has a storer of its own,
// which only one goroutine may use.
type packStore struct {
	mu     sync.Mutex
	opened bool
	places []*objectPlace
}

// objectPlace is one object directory and the packs it had when last indexed.
type objectPlace struct {
	dir     string
	storer  *filesystem.Storage
	packs   []string
	borrows bool // it names other object directories
}

// read looks in all places, and once more in those whose packs have changed.
func (p *packStore) read(s *Store, oid OID) (kind string, data []byte, err error) {
	if s.opts.Format == gitcmd.SHA256 { // go-git has one digest size per binary
		return "", nil, ErrObjectMissing
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open(s)
	h := plumbing.NewHash(string(oid))
	for _, place := range p.places {
		if obj := place.find(h); obj != nil {
			return contentOf(obj, s.opts.MaxObject)
		}
	}
	return "", nil, ErrObjectMissing
}

func (p *packStore) has(s *Store, oid OID) bool {
	if s.opts.Format == gitcmd.SHA256 { // go-git has one digest size per binary
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open(s)
	h := plumbing.NewHash(string(oid))
	return slices.ContainsFunc(p.places, func(place *objectPlace) bool {
		return place.has(h) || place.reindex() && place.has(h)
	})
}

func (p *packStore) open(s *Store) {
	if p.opened {
		return
	}
	p.opened = true
	for _, dir := range s.objectDirs() {
		p.add(dir, s.opts.MaxObject)
	}
}

// add opens an object directory. git reads one that looks unlike a git directory's.
func (p *packStore) add(dir string, limit int64) {
	if filepath.Base(dir) != "objects" {
		return
	}
	p.places = append(p.places, &objectPlace{
		dir: dir,
		storer: filesystem.NewStorageWithOptions(
			dotgit.NewRepositoryFilesystem(osfs.New(filepath.Dir(dir)), nil),
			cache.NewObjectLRUDefault(),
			filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: limit},
		),
		packs:   packNames(dir),
		borrows: len(alternatesOf(dir)) > 0,
	})
}

func (p *packStore) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var faults []error
	for _, place := range p.places {
		faults = append(faults, place.storer.Close())
	}
	p.places, p.opened = nil, false
	return errors.Join(faults...)
}

// find returns nil after any error: the Store then asks git, which gives the reason.
func (o *objectPlace) find(h plumbing.Hash) plumbing.EncodedObject {
	if obj := o.get(h); obj != nil {
		return obj
	}
	if o.reindex() {
		return o.get(h)
	}
	return nil
}

// get asks first whether the object is here, which is slow, only if the storer would go on to search the
// other directories by itself, which is slower.
func (o *objectPlace) get(h plumbing.Hash) plumbing.EncodedObject {
	if o.borrows && !o.has(h) {
		return nil
	}
	obj, err := o.storer.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return nil
	}
	return obj
}

func (o *objectPlace) has(h plumbing.Hash) bool { return o.storer.HasEncodedObject(h) == nil }

// reindex reports whether the packs have changed since they were last looked at.
func (o *objectPlace) reindex() bool {
	now := packNames(o.dir)
	if slices.Equal(now, o.packs) {
		return false
	}
	o.packs = now
	o.storer.Reindex()
	return true
}

func packNames(objects string) []string {
	entries, err := os.ReadDir(filepath.Join(objects, "pack"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".idx" {
			names = append(names, e.Name())
		}
	}
	return names
}

func contentOf(obj plumbing.EncodedObject, limit int64) (string, []byte, error) {
	if obj.Size() > limit {
		return "", nil, fmt.Errorf("%w: %d bytes", ErrObjectTooLarge, obj.Size())
	}
	r, err := obj.Reader()
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	defer r.Close()
	var data bytes.Buffer
	data.Grow(int(obj.Size()) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	return obj.Type().String(), data.Bytes(), nil
}
