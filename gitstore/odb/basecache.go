package odb

import (
	"container/list"
	"sync"
)

// maxBases is the size of the cache, in bytes.
const maxBases = 16 << 20

// baseCache keeps the most recently used bases of deltas. Its objects never change.
type baseCache struct {
	mu    sync.Mutex
	bytes int
	used  list.List // of *base, the one used last stands first
	found map[baseKey]*list.Element
}

type baseKey struct {
	pack *pack
	at   int64
}

type base struct {
	baseKey
	kind string
	data []byte
}

func (c *baseCache) get(k baseKey) (*base, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.found[k]
	if !ok {
		return nil, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*base), true
}

// put keeps a base, unless it would drive out most others.
func (c *baseCache) put(b *base) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil {
		c.found = map[baseKey]*list.Element{}
	}
	if _, there := c.found[b.baseKey]; there || len(b.data) > maxBases/4 {
		return
	}
	c.found[b.baseKey] = c.used.PushFront(b)
	for c.bytes += len(b.data) + 128; c.bytes > maxBases; {
		c.remove(c.used.Back())
	}
}

func (c *baseCache) remove(e *list.Element) {
	old := c.used.Remove(e).(*base)
	delete(c.found, old.baseKey)
	c.bytes -= len(old.data) + 128
}

// forget drops the objects of a pack.
func (c *baseCache) forget(p *pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.used.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*base).pack == p {
			c.remove(e)
		}
		e = next
	}
}
