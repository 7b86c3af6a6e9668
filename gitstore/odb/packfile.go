package odb

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"

	"jp/gitcmd"
)

const (
	packHeader = 12
	// packWindow is how much of a pack is read at once, in bytes: objects that are read one after another
	// often lie together. If they prove to be apart, jp reads less, down to leastWindow.
	packWindow  = 16 << 10
	leastWindow = 2 << 10
	// maxEntryHeader is the longest header of an object in a pack: its size, and the name
	// of its base.
	maxEntryHeader = 12 + gitcmd.MaxDigest
	// maxChain is the longest chain of deltas that git can make.
	maxChain = 4095
	// maxRatio is how much larger deflated data can become.
	maxRatio = 1040
)

// The kinds of a pack's entries, by number.
const (
	entryOffsetDelta = 6
	entryNamedDelta  = 7
)

var entryKinds = [8]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

// pack is one pack with its index.
type pack struct {
	index *packIndex
	names *indexFile
	file  *handle
	gone  bool // no longer in its directory
}

// openPack opens the pack of an index. room is how many bytes of indexes may still be
// held in memory, size the length of an object's name. With an error the pack must still be closed.
func openPack(files *handles, path string, room *atomic.Int64, size int) (*pack, error) {
	p := &pack{}
	names, err := files.handle(path)
	if err != nil {
		return p, err
	}
	p.names = &indexFile{handle: names, room: room}
	if p.index, err = readIndex(p.names, names.size(), size); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	if p.file, err = files.handle(strings.TrimSuffix(path, ".idx") + ".pack"); err != nil {
		return p, err
	}
	return p, p.check()
}

// close gives the files and the memory back.
func (p *pack) close() {
	if p.names != nil {
		p.names.forget()
		p.names.release()
	}
	if p.file != nil {
		p.file.release()
	}
}

// find gives the offset of an object. buf is room for a bucket.
func (p *pack) find(name *rawName, buf *[bucket * gitcmd.MaxDigest]byte) (offset int64, found bool, err error) {
	p.names.lookup()
	return p.index.find(name, buf)
}

// check looks whether index and pack belong together.
func (p *pack) check() error {
	var head [packHeader]byte
	var sum rawName
	if err := readFull(p.file, head[:], 0); err != nil {
		return err
	}
	if err := readFull(p.file, sum[:p.index.raw], p.end()); err != nil {
		return err
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 || int64(count) != p.index.count() || sum != p.index.sum {
		return fmt.Errorf("%w: %s is not the pack of its index", ErrObjectCorrupt, p.file.path)
	}
	return nil
}

// end is the offset behind the last object.
func (p *pack) end() int64 { return p.file.size() - int64(p.index.raw) }

// entry is the header of an object in a pack.
type entry struct {
	at   int64
	kind byte
	size int64 // of the inflated object or delta
	body int64 // the offset of its deflated data
	base int64 // for a delta
}

func (e *entry) delta() bool { return e.kind == entryOffsetDelta || e.kind == entryNamedDelta }

// packReader keeps the memory that reading a pack needs, for one goroutine.
type packReader struct {
	inflater
	sum    hasher
	names  [bucket * gitcmd.MaxDigest]byte
	chain  []entry
	delta  []byte
	pack   *pack // of the window
	from   int64
	window []byte
	reach  int64 // length of the next window
	others bool  // an object was read from the window besides the one it was read for
}

// bytesAt gives n bytes of a pack, and fewer only before its end. They are good
// until the next call.
func (r *packReader) bytesAt(p *pack, at, n int64) ([]byte, error) {
	if at < packHeader || at >= p.end() {
		return nil, fmt.Errorf("%w: offset %d is not in the pack", ErrObjectCorrupt, at)
	}
	n = min(n, p.end()-at)
	if r.holds(p, at, n) {
		return r.window[at-r.from:], nil
	}
	if r.reach = max(r.reach/2, leastWindow); r.others || r.window == nil {
		r.reach = packWindow
	}
	r.others = false
	size := min(max(n, r.reach), p.end()-at)
	if int64(cap(r.window)) < size || cap(r.window) > 16*packWindow {
		r.window = make([]byte, size)
	}
	r.pack, r.from, r.window = nil, at, r.window[:size]
	if err := readFull(p.file, r.window, at); err != nil {
		return nil, err
	}
	r.pack = p
	return r.window, nil
}

// holds reports whether the window has a part of a pack.
func (r *packReader) holds(p *pack, at, n int64) bool {
	return r.pack == p && at >= r.from && at+n <= r.from+int64(len(r.window))
}

// entryAt reads the header at an offset.
func (r *packReader) entryAt(p *pack, at int64) (entry, error) {
	r.others = r.others || r.holds(p, at, maxEntryHeader)
	head, err := r.bytesAt(p, at, maxEntryHeader)
	if err != nil {
		return entry{}, err
	}
	e := entry{at: at, kind: head[0] >> 4 & 7, size: int64(head[0] & 15)}
	i := 1
	for shift := 4; head[i-1] >= 0x80; i, shift = i+1, shift+7 {
		if i == len(head) || shift > 53 {
			return e, fmt.Errorf("%w: an object in a pack has no size", ErrObjectCorrupt)
		}
		e.size |= int64(head[i]&0x7f) << shift
	}
	var n int
	switch {
	case e.kind == entryOffsetDelta:
		e.base, n = baseOffset(head[i:])
		e.base = at - e.base
	case e.kind == entryNamedDelta && len(head)-i >= p.index.raw:
		name, found := rawName{}, false
		copy(name[:], head[i:i+p.index.raw])
		if e.base, found, err = p.find(&name, &r.names); err != nil {
			return e, err
		}
		if n = p.index.raw; !found {
			n = 0
		}
	case entryKinds[e.kind] != "":
		e.body = at + int64(i)
		return e, nil
	}
	if n == 0 || e.base < packHeader || e.base >= p.end() {
		return e, fmt.Errorf("%w: an object in a pack has kind %d and no base", ErrObjectCorrupt, e.kind)
	}
	e.body = at + int64(i+n)
	return e, nil
}

// baseOffset reads how far before a delta its base begins. It has read no bytes if the value is impossible.
func baseOffset(head []byte) (distance int64, n int) {
	for n < len(head) && n < 8 {
		distance |= int64(head[n] & 0x7f)
		n++
		if head[n-1] < 0x80 {
			if distance == 0 {
				return 0, 0
			}
			return distance, n
		}
		distance = (distance + 1) << 7
	}
	return 0, 0
}

// body inflates an entry's data into dst, if that is large enough.
func (r *packReader) body(p *pack, e *entry, dst []byte, limit int64) ([]byte, error) {
	switch {
	case e.size > limit:
		return nil, fmt.Errorf("%w: %d bytes", ErrObjectTooLarge, e.size)
	case e.size/maxRatio > p.end()-e.body:
		return nil, fmt.Errorf("%w: an object in a pack claims %d bytes", ErrObjectCorrupt, e.size)
	}
	// No program deflates to more than this; git reads any longer data.
	src, err := r.bytesAt(p, e.body, e.size+e.size/1000+64)
	if err != nil {
		return nil, err
	}
	if int64(cap(dst)) < e.size {
		dst = make([]byte, e.size)
	}
	dst = dst[:e.size]
	_, _, err = r.inflate(dst, src)
	return dst, err
}

// object reads the object at an offset: its base first, then delta by delta, with at most three of them in
// memory.
func (r *packReader) object(p *pack, at, limit int64, bases *baseCache) (kind string, data []byte, err error) {
	r.chain = r.chain[:0]
	for {
		if b, ok := bases.get(baseKey{p, at}); ok && len(r.chain) > 0 {
			kind, data = b.kind, b.data
			break
		}
		e, err := r.entryAt(p, at)
		if err != nil {
			return "", nil, err
		}
		if !e.delta() {
			kind = entryKinds[e.kind]
			if data, err = r.body(p, &e, nil, limit); err != nil {
				return "", nil, err
			}
			break
		}
		if len(r.chain) == maxChain {
			return "", nil, fmt.Errorf("%w: a chain of too many deltas", ErrObjectCorrupt)
		}
		r.chain = append(r.chain, e)
		at = e.base
	}
	for i := len(r.chain) - 1; i >= 0; i-- {
		e := &r.chain[i]
		bases.put(&base{baseKey{p, e.base}, kind, data})
		delta, err := r.body(p, e, r.delta, limit)
		if err == nil {
			data, err = applyDelta(data, delta, limit)
		}
		if err != nil {
			return "", nil, err
		}
		if r.delta = nil; cap(delta) <= 1<<20 {
			r.delta = delta
		}
	}
	return kind, data, nil
}
