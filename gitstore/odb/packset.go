package odb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"jp/gitcmd"
)

// packSet reads the packs of some object directories. Other processes add and remove packs at any time: a
// missing object makes it look at the directories again. Any number of goroutines may read.
type packSet struct {
	mu      sync.Mutex // held to change the fields below
	format  gitcmd.ObjectFormat
	dirs    []string
	opened  bool
	listed  []string         // the indexes that the directories had
	found   map[string]*pack // by the path of the index
	room    atomic.Int64     // the rest of indexMemory
	packs   atomic.Pointer[[]*pack]
	foreign atomic.Bool // there are indexes of other versions, and no damaged ones

	last    atomic.Pointer[pack] // the pack of the last object
	readers sync.Pool            // of *packReader
	files   handles
	bases   baseCache
}

// open names the directories, on the first use.
func (p *packSet) open(dirs func() []string, format gitcmd.ObjectFormat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened {
		return
	}
	p.opened, p.format, p.dirs, p.found = true, format, dirs(), map[string]*pack{}
	p.room.Store(indexMemory)
	p.packs.Store(&[]*pack{})
	p.refresh()
}

// reader lends the memory for one read.
func (p *packSet) reader() *packReader {
	if r, ok := p.readers.Get().(*packReader); ok {
		return r
	}
	return &packReader{}
}

// read returns an object, and checks its hash. It fails with ErrObjectMissing if no pack has it, and with
// ErrObjectCorrupt if none has it whole.
func (p *packSet) read(oid OID, limit int64) (kind string, data []byte, err error) {
	r := p.reader()
	defer p.readers.Put(r)
	for range 3 {
		before := p.packs.Load()
		kind, data, err = p.search(r, oid, limit, true)
		if err == nil || errors.Is(err, ErrObjectTooLarge) {
			break
		}
		if !p.changed() && p.packs.Load() == before { // no other reader saw a change either
			break
		}
	}
	return kind, data, err
}

// known is read without looking for new packs, and if prove is false without looking at the hash.
func (p *packSet) known(oid OID, limit int64, prove bool) (kind string, data []byte, err error) {
	r := p.reader()
	defer p.readers.Put(r)
	return p.search(r, oid, limit, prove)
}

// search looks in the pack that had the last object, then in the others.
func (p *packSet) search(r *packReader, oid OID, limit int64, prove bool) (kind string, data []byte, err error) {
	name, worst := oid.raw(), ErrObjectMissing
	last, packs := p.last.Load(), *p.packs.Load()
	for i := -1; i < len(packs); i++ {
		k := last
		if i >= 0 {
			k = packs[i]
		}
		if k == nil || i >= 0 && k == last {
			continue
		}
		kind, data, err = p.readFrom(k, r, &name, limit, prove)
		switch {
		case err == nil:
			p.last.Store(k)
			return kind, data, nil
		case errors.Is(err, ErrObjectTooLarge):
			return "", nil, err
		case !errors.Is(err, ErrObjectMissing):
			worst = err
		}
	}
	return "", nil, worst
}

// readFrom reads an object from one pack. A vanished pack has no objects. Any other error means that the
// object is damaged in it.
func (p *packSet) readFrom(k *pack, r *packReader, name *rawName, limit int64, prove bool) (kind string, data []byte, err error) {
	at, found, err := k.find(name, &r.names)
	if err == nil && !found {
		return "", nil, ErrObjectMissing
	}
	if err == nil {
		kind, data, err = r.object(k, at, limit, &p.bases)
	}
	switch {
	case err == nil && (!prove || r.sum.names(p.format, *name, kind, data)):
		return kind, data, nil
	case err == nil:
		err = fmt.Errorf("%w: its bytes have another name", ErrObjectCorrupt)
	case errors.Is(err, errVanished), errors.Is(err, os.ErrClosed):
		err = ErrObjectMissing
	case !errors.Is(err, ErrObjectTooLarge) && !errors.Is(err, ErrObjectCorrupt):
		err = fmt.Errorf("%w: %w", ErrObjectCorrupt, err)
	}
	return "", nil, err
}

// has reports whether an index names the object.
func (p *packSet) has(oid OID) bool {
	for range 3 {
		before := p.packs.Load()
		if p.named(*before, oid) {
			return true
		}
		if !p.changed() && p.packs.Load() == before { // no other reader saw a change either
			break
		}
	}
	return false
}

// named reports whether the index of one of the packs names the object.
func (p *packSet) named(packs []*pack, oid OID) bool {
	r := p.reader()
	defer p.readers.Put(r)
	name := oid.raw()
	return slices.ContainsFunc(packs, func(k *pack) bool {
		_, found, err := k.find(&name, &r.names)
		return err == nil && found
	})
}

// current gives the packs that the directories have now.
func (p *packSet) current() (packs []*pack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refresh()
	for _, k := range *p.packs.Load() {
		if !k.gone {
			packs = append(packs, k)
		}
	}
	return packs
}

// changed looks at the directories, and says whether there are other packs now.
func (p *packSet) changed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refresh()
}

// refresh opens new packs. A reader that has begun can still read a removed one, until the directories
// change once more.
func (p *packSet) refresh() bool {
	now := indexFiles(p.dirs)
	if slices.Equal(now, p.listed) {
		return false
	}
	p.listed = now
	foreign, damaged := false, false
	var packs []*pack
	for _, path := range now {
		k := p.found[path]
		if k != nil && k.gone {
			p.drop(path, k)
			k = nil
		}
		if k == nil {
			var err error
			if k, err = openPack(&p.files, path, &p.room, p.format.Size()); err != nil {
				k.close()
				foreign = foreign || errors.Is(err, errIndexVersion)
				damaged = damaged || !errors.Is(err, errIndexVersion)
				continue
			}
			p.found[path] = k
		}
		packs = append(packs, k)
	}
	for path, k := range p.found {
		switch {
		case slices.Contains(now, path):
		case k.gone:
			p.drop(path, k)
		default:
			k.gone = true
			packs = append(packs, k)
		}
	}
	p.foreign.Store(foreign && !damaged)
	p.packs.Store(&packs)
	return true
}

func (p *packSet) drop(path string, k *pack) {
	k.close()
	delete(p.found, path)
	p.bases.forget(k)
	p.last.CompareAndSwap(k, nil)
}

func indexFiles(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		folder := filepath.Join(dir, "pack")
		for _, name := range packNames(dir) {
			out = append(out, filepath.Join(folder, name))
		}
	}
	return out
}

func (p *packSet) close() error { return p.files.close() }
