package odb

import (
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync/atomic"
)

// A StoredPack is a pack in the making, of objects that are stored without compression. Only the user may read it. It is
// for one goroutine.
type StoredPack struct{ pack *packFile }

// BeginStored begins a pack. The Store needs no refs for it.
func (r Packs) BeginStored() (*StoredPack, error) {
	p, err := r.Store.newPack(zlib.NoCompression, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin a pack: %w", classify(err))
	}
	return &StoredPack{p}, nil
}

// Add adds an object, unless the pack has it, and names it.
func (p *StoredPack) Add(kind string, data []byte) (OID, error) {
	oid := HashObject(p.pack.store.opts.Format, kind, data)
	if err := p.pack.add(Object{Kind: kind, OID: oid, Data: data}); err != nil {
		return "", fmt.Errorf("add to a pack: %w", classify(err))
	}
	return oid, nil
}

// Size is how many bytes the pack has so far.
func (p *StoredPack) Size() int64 { return p.pack.at }

// Complete makes the pack durable, and names it without suffix.
func (p *StoredPack) Complete() (name string, err error) {
	if name, err = p.pack.complete(); err != nil {
		return "", fmt.Errorf("write a pack: %w", classify(err))
	}
	return name, nil
}

// Discard removes an incomplete pack.
func (p *StoredPack) Discard() { p.pack.remove() }

// Packs reads single packs of a Store, and makes some.
type Packs struct{ Store *Store }

// Read passes the wanted objects of the named pack to take, in no order, and opens no other pack.
func (r Packs) Read(name string, want func(OID) bool, take func(OID, []byte) error) error {
	s := r.Store
	var room atomic.Int64
	set := packSet{format: s.opts.Format}
	defer set.close()
	k, err := openPack(&set.files, filepath.Join(s.dir, "objects", "pack", name+".idx"), &room, s.opts.Format.Size())
	defer k.close()
	if err != nil {
		return fmt.Errorf("open a pack: %w", classify(err))
	}
	raw := int64(k.index.raw)
	names := make([]byte, k.index.count()*raw)
	if err := readFull(k.names, names, namesAt); err != nil {
		return fmt.Errorf("read the index of a pack: %w", classify(err))
	}
	for reader := set.reader(); len(names) > 0; names = names[raw:] {
		oid := OID(hex.EncodeToString(names[:raw]))
		if !want(oid) {
			continue
		}
		name := oid.raw()
		_, data, err := set.readFrom(k, reader, &name, s.opts.MaxObject, true)
		if err == nil {
			err = take(oid, data)
		}
		if err != nil {
			return fmt.Errorf("read object %s: %w", oid, classify(err))
		}
	}
	return nil
}
