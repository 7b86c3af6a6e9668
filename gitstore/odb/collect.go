package odb

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"jp/gitcmd"
)

const (
	// fewObjects are too few for a pack.
	fewObjects = 50
	// mostCollected bounds the memory that a collection takes: beyond it another pack begins.
	mostCollected = 1 << 18
	packPerm      = 0o444
)

// A Collection has the results of a Store's Writes between Begin and Complete: objects, which go into one
// pack, and moves of refs, which happen when the pack is durable. The Store reads collected objects at
// once, and others can after Complete. It is for one goroutine.
type Collection struct {
	Store *Store
	small []Object // of few objects
	pack  *packFile
	refs  map[string]OID
	moves []RefUpdate
	names []string // of the packs that were made
}

// Begin lets the Store collect. A Store on a test's file system goes on without collecting.
func (c *Collection) Begin() error {
	c.refs = map[string]OID{}
	if c.Store.opts.FS == OS() && !c.Store.collected.CompareAndSwap(nil, c) {
		return errors.New("this store collects already")
	}
	return nil
}

// Complete makes the collected objects durable and moves the refs. It returns the names of the new packs,
// without suffixes.
func (c *Collection) Complete(ctx context.Context) (packs []string, err error) {
	defer c.Discard()
	err = c.flush(ctx)
	return c.names, err
}

// Discard forgets the collected objects and refs that are incomplete.
func (c *Collection) Discard() {
	c.Store.collected.CompareAndSwap(c, nil)
	if c.pack != nil {
		c.pack.remove()
		c.pack = nil
	}
}

// flush makes all of it durable so far.
func (c *Collection) flush(ctx context.Context) error {
	s := c.Store
	s.collected.Store(nil)
	if c.pack != nil {
		name, err := c.pack.complete()
		if err != nil {
			return fmt.Errorf("write a pack: %w", classify(err))
		}
		c.pack, c.names = nil, append(c.names, name)
		s.packs.open(s.objectDirs, s.opts.Format)
		s.packs.changed()
	}
	batch := Batch{Objects: c.small, Updates: c.moves}
	c.small, c.moves = nil, nil
	clear(c.refs)
	if len(batch.Objects)+len(batch.Updates) == 0 {
		return nil
	}
	return s.Write(ctx, batch)
}

// write takes over a Write's batch.
func (c *Collection) write(ctx context.Context, b Batch) error {
	for _, u := range b.Updates {
		now, there := c.refs[u.Ref]
		if !there {
			var err error
			if now, err = c.Store.ReadRef(u.Ref); err != nil && !errors.Is(err, ErrRefNotFound) {
				return err
			}
		}
		if now != u.Old {
			return &RefError{Ref: u.Ref, Want: u.Old, Found: now}
		}
	}
	for _, o := range b.Objects {
		if err := c.add(o); err != nil {
			return fmt.Errorf("write object %s: %w", o.OID, classify(err))
		}
	}
	for _, u := range b.Updates {
		c.refs[u.Ref] = u.New
		if at := slices.IndexFunc(c.moves, func(m RefUpdate) bool { return m.Ref == u.Ref }); at >= 0 {
			c.moves[at].New = u.New
		} else {
			c.moves = append(c.moves, u)
		}
	}
	if c.pack == nil || len(c.pack.entries) < mostCollected {
		return nil
	}
	err := c.flush(ctx)
	c.Store.collected.Store(c)
	return err
}

func (c *Collection) add(o Object) (err error) {
	if c.pack == nil {
		if len(c.small) < fewObjects && len(o.Data) < 64<<10 {
			c.small = append(c.small, o)
			return nil
		}
		if c.pack, err = c.Store.newPack(zlib.BestSpeed, packPerm); err != nil {
			return err
		}
		for _, o := range c.small {
			if err := c.pack.add(o); err != nil {
				return err
			}
		}
		c.small = nil
	}
	return c.pack.add(o)
}

// read gives an object that was collected.
func (c *Collection) read(oid OID) (kind string, data []byte, ok bool) {
	for _, o := range c.small {
		if o.OID == oid {
			return o.Kind, o.Data, true
		}
	}
	if c.pack == nil {
		return "", nil, false
	}
	return c.pack.read(oid)
}

// A packFile is a pack in the making.
type packFile struct {
	store   *Store
	path    string
	perm    os.FileMode
	file    *os.File
	out     *bufio.Writer
	at      int64
	entries []packEntry
	known   map[rawName]int32
	buf     bytes.Buffer
	deflate *zlib.Writer
}

type packEntry struct {
	name rawName
	at   int64
	size int32 // of the object
	crc  uint32
	kind uint8
}

var packKinds = []string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

func (s *Store) newPack(level int, perm os.FileMode) (*packFile, error) {
	dir := filepath.Join(s.dir, "objects", "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var random [10]byte
	rand.Read(random[:])
	path := filepath.Join(dir, "tmp_pack_"+hex.EncodeToString(random[:])) // git prune removes it after a crash
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	p := &packFile{store: s, path: path, perm: perm, file: file, out: bufio.NewWriterSize(file, 256<<10), known: map[rawName]int32{}}
	p.deflate, _ = zlib.NewWriterLevel(&p.buf, level)
	p.at = 12
	_, err = p.out.Write(collectedHead(0))
	return p, err
}

func collectedHead(objects int) []byte {
	return binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(objects))
}

func (p *packFile) add(o Object) error {
	name := o.OID.raw()
	if _, twice := p.known[name]; twice {
		return nil
	}
	kind := slices.Index(packKinds, o.Kind)
	if kind < 1 {
		return fmt.Errorf("an object is a %s", o.Kind)
	}
	p.buf.Reset()
	size := len(o.Data)
	for first, left := byte(kind<<4|size&15), size>>4; ; left >>= 7 {
		if left > 0 {
			first |= 0x80
		}
		p.buf.WriteByte(first)
		if left == 0 {
			break
		}
		first = byte(left & 0x7f)
	}
	p.deflate.Reset(&p.buf)
	p.deflate.Write(o.Data) // a buffer takes all
	p.deflate.Close()
	if _, err := p.out.Write(p.buf.Bytes()); err != nil {
		return err
	}
	p.known[name] = int32(len(p.entries))
	p.entries = append(p.entries, packEntry{name: name, at: p.at, size: int32(size), crc: crc32.ChecksumIEEE(p.buf.Bytes()), kind: uint8(kind)})
	p.at += int64(p.buf.Len())
	return nil
}

func (p *packFile) read(oid OID) (kind string, data []byte, ok bool) {
	at, known := p.known[oid.raw()]
	if !known || p.out.Flush() != nil {
		return "", nil, false
	}
	e := p.entries[at]
	in := bufio.NewReader(io.NewSectionReader(p.file, e.at, p.at-e.at))
	for {
		b, err := in.ReadByte()
		if err != nil {
			return "", nil, false
		}
		if b&0x80 == 0 {
			break
		}
	}
	z, err := zlib.NewReader(in)
	if err != nil {
		return "", nil, false
	}
	data = make([]byte, e.size)
	_, err = io.ReadFull(z, data)
	return packKinds[e.kind], data, err == nil
}

func (p *packFile) remove() {
	_ = p.file.Close()
	_ = os.Remove(p.path)
}

// complete gives the pack its sum, its index and its name.
func (p *packFile) complete() (name string, err error) {
	defer p.remove()
	if err := p.out.Flush(); err != nil {
		return "", err
	}
	if _, err := p.file.WriteAt(collectedHead(len(p.entries)), 0); err != nil {
		return "", err
	}
	sum := p.store.opts.Format.New()
	if _, err := io.Copy(sum, io.NewSectionReader(p.file, 0, p.at)); err != nil {
		return "", err
	}
	digest := sum.Sum(nil)
	if _, err := p.file.WriteAt(digest, p.at); err != nil {
		return "", err
	}
	name = "pack-" + hex.EncodeToString(digest)
	index := p.path + "_idx"
	defer os.Remove(index)
	if err := p.writeIndex(index, digest); err != nil {
		return "", err
	}
	if err := p.makeDurable(p.file); err != nil {
		return "", err
	}
	place := filepath.Join(filepath.Dir(p.path), name)
	for _, move := range [][2]string{{p.path, place + ".pack"}, {index, place + ".idx"}} { // the index makes the pack known
		if err := os.Rename(move[0], move[1]); err != nil {
			return "", err
		}
	}
	return name, p.syncFolder()
}

// makeDurable gives a file its mode, and makes it durable.
func (p *packFile) makeDurable(f *os.File) error {
	sharing, err := p.store.sharing()
	if err != nil {
		return err
	}
	if sharing != gitcmd.ShareUmask {
		if err := f.Chmod(os.FileMode(sharing.Perm(packPerm, false))); err != nil {
			return err
		}
	}
	if p.store.opts.Durability == Off {
		return nil
	}
	return f.Sync()
}

func (p *packFile) syncFolder() error {
	if p.store.opts.Durability == Off {
		return nil
	}
	dir, err := os.Open(filepath.Dir(p.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (p *packFile) writeIndex(path string, packSum []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, p.perm)
	if err != nil {
		return err
	}
	defer file.Close()
	raw := p.store.opts.Format.Size()
	slices.SortFunc(p.entries, func(a, b packEntry) int { return bytes.Compare(a.name[:raw], b.name[:raw]) })
	sum := p.store.opts.Format.New()
	buffer := bufio.NewWriterSize(file, 256<<10)
	out := io.MultiWriter(buffer, sum)
	if err := p.index(out, raw); err != nil {
		return err
	}
	_, err = out.Write(packSum)
	if err = cmp.Or(err, writeSum(buffer, sum), buffer.Flush()); err != nil {
		return err
	}
	return p.makeDurable(file)
}

func writeSum(out io.Writer, sum hash.Hash) error {
	_, err := out.Write(sum.Sum(nil))
	return err
}

// index writes the tables of an index of version 2.
func (p *packFile) index(out io.Writer, raw int) error {
	tables := bufio.NewWriterSize(out, 64<<10)
	tables.WriteString(indexMagic)
	var number [8]byte
	put := func(n uint32) {
		binary.BigEndian.PutUint32(number[:4], n)
		tables.Write(number[:4])
	}
	for first, n := 0, 0; first < 256; first++ {
		for n < len(p.entries) && int(p.entries[n].name[0]) <= first {
			n++
		}
		put(uint32(n))
	}
	for _, e := range p.entries {
		tables.Write(e.name[:raw])
	}
	for _, e := range p.entries {
		put(e.crc)
	}
	var large []int64
	for _, e := range p.entries {
		if e.at < largeOffset {
			put(uint32(e.at))
			continue
		}
		put(largeOffset | uint32(len(large)))
		large = append(large, e.at)
	}
	for _, at := range large {
		binary.BigEndian.PutUint64(number[:], uint64(at))
		tables.Write(number[:])
	}
	return tables.Flush()
}
