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
	// aheadBatches is how many batches are read before they are asked for.
	aheadBatches = 4
	// aheadLargest is the size from which an object is the last to be read ahead.
	aheadLargest = 256 << 10
)

// A stored is an object as the store gave it.
type stored struct {
	oid    odb.OID
	kind   string
	object []byte
	proven bool // its bytes have its name
	err    error
}

// ahead reads a chain of first parents while its reader decodes what it has. It
// ends by itself at what has no parent; the rest is its reader's own to read.
type ahead struct {
	store   *Store
	batches chan []stored
	current []stored // what the reader has of the batch in hand
	done    chan struct{}
	wait    sync.WaitGroup
}

func (s *Store) readAhead(from odb.OID) *ahead {
	a := &ahead{store: s, batches: make(chan []stored, aheadBatches), done: make(chan struct{})}
	a.wait.Go(func() {
		defer close(a.batches)
		for size := 1; from != ""; size = min(2*size, aheadBatch) {
			var batch []stored
			batch, from = s.readBatch(from, size)
			select {
			case a.batches <- batch:
			case <-a.done:
				return
			}
		}
	})
	return a
}

// readBatch reads some objects of a chain, and says where the next ones begin, ""
// for nowhere.
func (s *Store) readBatch(oid odb.OID, size int) ([]stored, odb.OID) {
	batch := make([]stored, 0, size)
	for oid != "" && len(batch) < size {
		o := s.unproven(oid)
		batch = append(batch, o)
		if oid = ""; o.err == nil && o.kind == "commit" && len(o.object) < aheadLargest {
			oid = firstParent(o.object)
		}
	}
	return batch, oid
}

// next gives the next object if it is the one that is wanted.
func (a *ahead) next(oid odb.OID) (stored, bool) {
	if len(a.current) == 0 {
		a.current = <-a.batches
	}
	if len(a.current) == 0 {
		return stored{}, false
	}
	o := a.current[0]
	a.current = a.current[1:]
	return a.store.prove(o), o.oid == oid
}

// stop returns when nothing is being read any more.
func (a *ahead) stop() {
	close(a.done)
	a.wait.Wait()
}

func (s *Store) stored(oid odb.OID) stored {
	kind, object, err := s.odb.ReadObject(oid)
	return stored{oid: oid, kind: kind, object: object, proven: true, err: err}
}

// unproven is stored for who proves it.
func (s *Store) unproven(oid odb.OID) stored {
	kind, object, proven, err := s.odb.ReadUnproven(oid)
	return stored{oid: oid, kind: kind, object: object, proven: proven, err: err}
}

// prove reads again what has another name.
func (s *Store) prove(o stored) stored {
	if o.proven || o.err != nil || s.odb.Names(o.oid, o.kind, o.object) {
		return o
	}
	return s.stored(o.oid)
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
