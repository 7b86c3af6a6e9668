package gitstore

import (
	"bytes"
	"sync"

	"jp/gitstore/odb"
)

const (
	// aheadObjects is how many objects are read before they are asked for.
	aheadObjects = 64
	// aheadLargest is the size from which one is the last to be.
	aheadLargest = 256 << 10
)

// A stored is an object as the store gave it.
type stored struct {
	oid    odb.OID
	kind   string
	object []byte
	err    error
}

// ahead reads a chain of first parents while its reader decodes what it has. It
// ends by itself at what has no parent; the rest is its reader's own to read.
type ahead struct {
	objects chan stored
	done    chan struct{}
	wait    sync.WaitGroup
}

func (s *Store) readAhead(from odb.OID) *ahead {
	a := &ahead{objects: make(chan stored, aheadObjects), done: make(chan struct{})}
	a.wait.Go(func() {
		defer close(a.objects)
		for oid := from; oid != ""; {
			o := s.stored(oid)
			select {
			case a.objects <- o:
			case <-a.done:
				return
			}
			if oid = ""; o.err == nil && o.kind == "commit" && len(o.object) < aheadLargest {
				oid = firstParent(o.object)
			}
		}
	})
	return a
}

// next gives the next object if it is the one that is wanted.
func (a *ahead) next(oid odb.OID) (stored, bool) {
	o, more := <-a.objects
	return o, more && o.oid == oid
}

// stop returns when nothing is being read any more.
func (a *ahead) stop() {
	close(a.done)
	a.wait.Wait()
}

func (s *Store) stored(oid odb.OID) stored {
	kind, object, err := s.odb.ReadObject(oid)
	return stored{oid: oid, kind: kind, object: object, err: err}
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
