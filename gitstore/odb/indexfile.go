package odb

import (
	"io"
	"sync/atomic"
)

// indexMemory is how many bytes of indexes jp holds in memory. It reads further ones from the file.
const indexMemory = 32 << 20

// perLookup is how many bytes can be read at once in the time of a lookup in a file.
const perLookup = 16 << 10

// An indexFile is the index of a pack. It reads single entries from the file until loading all of it would
// have taken no longer than the lookups so far: most commands read few objects, and the indexes of a large
// repository have many megabytes.
type indexFile struct {
	*handle
	room  *atomic.Int64 // bytes of indexes that all of them may still hold
	asked atomic.Int64  // lookups
	tried atomic.Bool   // a reader has begun to read all of it
	held  atomic.Pointer[[]byte]
	gone  atomic.Bool // it must not be loaded any more
}

// ReadAt reads from memory if the index is there.
func (f *indexFile) ReadAt(p []byte, off int64) (int, error) {
	held := f.held.Load()
	if held == nil {
		n, err := f.handle.ReadAt(p, off)
		if held = f.held.Load(); err == nil || held == nil { // else it went into memory meanwhile
			return n, err
		}
	}
	if off >= int64(len(*held)) {
		return 0, io.EOF
	}
	n := copy(p, (*held)[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// lookup counts a lookup. An index that cannot be loaded is still read from the file.
func (f *indexFile) lookup() {
	if f.held.Load() != nil || f.asked.Add(1)*perLookup < f.size() || !f.tried.CompareAndSwap(false, true) {
		return
	}
	if f.room.Add(-f.size()) < 0 {
		f.room.Add(f.size())
		return
	}
	all := make([]byte, f.size())
	if err := readFull(f.handle, all, 0); err != nil {
		f.room.Add(f.size())
		return
	}
	f.held.Store(&all)
	f.release()
	if f.gone.Load() {
		f.drop()
	}
}

// forget gives the memory back, also memory that a reader is about to take.
func (f *indexFile) forget() {
	f.gone.Store(true)
	f.drop()
}

func (f *indexFile) drop() {
	if f.held.Swap(nil) != nil {
		f.room.Add(f.size())
	}
}
