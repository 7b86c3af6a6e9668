package gitstore

import (
	"bytes"
	"sync"

	"jp/gitstore/odb"
)

const (
	// aheadBatch is how many objects are handed over at once: each handover
	// costs about as much as reading an object.
	aheadBatch = 32
	// aheadBatches is the number of batches that are read in advance.
	aheadBatches = 4
	// aheadLargest is the size from which an object is the last to be read ahead.
	aheadLargest = 256 << 10
)

// A part is an object of a chain with its parsed value.
type part[T any] struct {
	stored
	made  bool
	value T
}

// prefetch reads a chain of first parents in advance of its reader. It stops at a commit
// without a parent, and the reader reads the rest itself. Either of the two parses a
// commit, whichever has time.
type prefetch[T any] struct {
	make    func(stored) T
	batches chan []part[T]
	current []part[T] // the reader's current batch
	done    chan struct{}
	wait    sync.WaitGroup
}

func readAhead[T any](r *commitReader, from odb.OID, making func(stored) T) *prefetch[T] {
	return readAlong(r, from, func(o stored) odb.OID {
		if o.err != nil || o.kind != "commit" || len(o.object) >= aheadLargest {
			return ""
		}
		return firstParent(o.object)
	}, making)
}

// readSome is readAhead for a number of objects.
func readSome[T any](r *commitReader, from odb.OID, n int, making func(stored) T) *prefetch[T] {
	next := func(o stored) odb.OID {
		if n--; n <= 0 || o.err != nil || o.kind != "commit" || len(o.object) >= aheadLargest {
			return ""
		}
		return firstParent(o.object)
	}
	if n <= 0 {
		from = ""
	}
	return readAlong(r, from, next, making)
}

// readAlong reads from one object to the next, to the end.
func readAlong[T any](r *commitReader, from odb.OID, next func(stored) odb.OID, making func(stored) T) *prefetch[T] {
	a := &prefetch[T]{make: making, batches: make(chan []part[T], aheadBatches), done: make(chan struct{})}
	a.wait.Go(func() {
		defer close(a.batches)
		for size := 1; from != ""; size = min(2*size, aheadBatch) {
			var batch []part[T]
			batch, from = readBatch[T](r, from, size, next)
			if !a.hand(batch) {
				return
			}
		}
	})
	return a
}

// hand gives a batch to the reader, and says whether there still is one. A reader
// that has enough to do gets it made.
func (a *prefetch[T]) hand(batch []part[T]) bool {
	select {
	case a.batches <- batch:
		return true
	case <-a.done:
		return false
	default:
	}
	for i := range batch {
		batch[i].value, batch[i].made = a.make(batch[i].stored), true
	}
	select {
	case a.batches <- batch:
		return true
	case <-a.done:
		return false
	}
}

// readBatch reads some objects, and returns the start of the next batch, "" at the end.
func readBatch[T any](r *commitReader, oid odb.OID, size int, next func(stored) odb.OID) ([]part[T], odb.OID) {
	batch := make([]part[T], 0, size)
	for bytes := 0; oid != "" && len(batch) < size && bytes < aheadLargest; {
		o := r.storedUnverified(oid)
		batch = append(batch, part[T]{stored: o})
		bytes += len(o.object)
		oid = next(o)
	}
	return batch, oid
}

// next returns the parsed value of the next object, if that is oid.
func (a *prefetch[T]) next(oid odb.OID) (value T, ok bool) {
	if len(a.current) == 0 {
		a.current = <-a.batches
	}
	if len(a.current) == 0 {
		return value, false
	}
	p := &a.current[0]
	a.current = a.current[1:]
	switch {
	case p.oid != oid:
		return value, false
	case !p.made:
		p.value = a.make(p.stored)
	}
	return p.value, true
}

// stop returns when all reading has ended.
func (a *prefetch[T]) stop() {
	close(a.done)
	a.wait.Wait()
}

// firstParent is the first parent that a commit seems to have. Who decodes it
// decides.
func firstParent(object []byte) odb.OID {
	_, rest, _ := bytes.Cut(object, []byte{'\n'})
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	parent, ok := bytes.CutPrefix(line, []byte("parent "))
	if !ok {
		return ""
	}
	oid, err := odb.ParseOID(string(parent))
	if err != nil {
		return ""
	}
	return oid
}
