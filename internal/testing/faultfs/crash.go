package faultfs

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Crash gives the disk as it may be after a power cut now. The old disk stays
// as it is, so that one state can be cut many times.
func (d *Disk) Crash(rng *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	var left *survivors
	if d.journal {
		left = d.replay(d.committed + rng.IntN(len(d.log)-d.committed+1))
	} else {
		left = d.pick(rng)
	}
	out := &Disk{journal: d.journal}
	out.root = out.newNode(true)
	left.copyTo(out, d.root, out.root, rng)
	out.flushAll()
	return out
}

// survivors are the names of each directory after a crash, and the files
// whose whole content is there.
type survivors struct {
	names map[*node]map[string]*node
	whole map[*node]bool
}

func newSurvivors() *survivors {
	return &survivors{names: map[*node]map[string]*node{}, whole: map[*node]bool{}}
}

func (s *survivors) set(c change) {
	if s.names[c.dir] == nil {
		s.names[c.dir] = map[string]*node{}
	}
	s.names[c.dir][c.name] = c.node
}

// replay keeps the first n changes. A rename is two of them, and kept whole.
func (d *Disk) replay(n int) *survivors {
	if n > 0 && n < len(d.log) && d.log[n-1].joined {
		n++
	}
	s := newSurvivors()
	for _, c := range d.log[:n] {
		if c.dir == nil {
			s.whole[c.node] = true
			continue
		}
		s.set(c)
	}
	return s
}

// pick keeps, for each name, its flushed or a later value.
func (d *Disk) pick(rng *rand.Rand) *survivors {
	type key struct {
		dir  *node
		name string
	}
	s := newSurvivors()
	options := map[key][]change{}
	var order []key
	for _, c := range d.log {
		if c.dir == nil {
			s.whole[c.node] = c.node.synced
			continue
		}
		k := key{c.dir, c.name}
		if options[k] == nil {
			order = append(order, k)
			options[k] = []change{{dir: c.dir, name: c.name}}
		}
		if c.durable {
			options[k] = nil
		}
		options[k] = append(options[k], c)
	}
	for _, k := range order {
		s.set(options[k][rng.IntN(len(options[k]))])
	}
	return s
}

// copyTo builds the surviving tree on a new disk.
func (s *survivors) copyTo(out *Disk, from, to *node, rng *rand.Rand) {
	for _, name := range slices.Sorted(maps.Keys(s.names[from])) {
		n := s.names[from][name]
		if n == nil {
			continue
		}
		fresh := out.newNode(n.entries != nil)
		fresh.modified = n.modified
		out.set(to, name, fresh)
		if n.entries != nil {
			s.copyTo(out, n, fresh, rng)
			continue
		}
		fresh.data = n.data
		if !s.whole[n] {
			fresh.data = damaged(n.data, rng)
		}
		fresh.synced = true
		out.log = append(out.log, change{node: fresh})
	}
}

// damaged is a possible reading of data that was never waited for.
func damaged(data []byte, rng *rand.Rand) []byte {
	switch rng.IntN(4) {
	case 0:
		return nil
	case 1:
		return make([]byte, len(data))
	case 2:
		return data[:rng.IntN(len(data)+1)]
	}
	return data
}

// Age makes all that is on the disk older, as if so much time had passed.
func (d *Disk) Age(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root.age(by)
}

func (n *node) age(by time.Duration) {
	n.modified -= int64(by)
	for _, below := range n.entries {
		below.age(by)
	}
}
