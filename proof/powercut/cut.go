package powercut

import (
	"fmt"
	"math/rand/v2"
)

// Survivors are the writes behind the last flush that a disk keeps at a cut.
type Survivors int

// The kinds of survivors.
const (
	KeptNone Survivors = iota
	KeptSectors
	KeptWrites
	KeptAll
	kinds
)

// KeptOf goes through the kinds in turn.
func KeptOf(n int) Survivors { return Survivors(n % int(kinds)) }

// String names the kind.
func (k Survivors) String() string {
	return [...]string{"no later write", "some later sectors", "some later writes", "all later writes"}[k]
}

// A Cut is the end of power at a position of a log.
type Cut struct {
	At   int
	Kept Survivors
	Seed uint64 // chooses the sectors or writes that are kept
	Unit int    // bytes of a sector, which is kept whole or lost; 0: SectorSize
}

// String is the cut for a person.
func (c Cut) String() string { return fmt.Sprintf("cut at %d, %v (seed %d)", c.At, c.Kept, c.Seed) }

// A Replay makes the images of cuts. They must be asked for in the order of
// their positions, and an image is good only until the next one is asked for.
type Replay struct {
	log     *Log
	durable *Image
	next    int
}

// NewReplay replays a log on the content that the disk had before it, which
// stays as it is.
func NewReplay(before *Image, log *Log) *Replay {
	return &Replay{log: log, durable: NewImage(before)}
}

// Image is the disk's content after a cut. It can be written to.
func (r *Replay) Image(c Cut) *Image {
	flushed := r.log.flushed(c.At)
	if flushed < r.next {
		panic("powercut: cuts are out of order")
	}
	for _, e := range r.log.entries[r.next:flushed] {
		r.durable.Write(e.data, e.offset)
	}
	r.next = flushed
	image, rng := NewImage(r.durable), rand.New(rand.NewPCG(c.Seed, uint64(c.At)))
	for _, e := range r.log.entries[flushed:c.At] {
		c.apply(image, e, rng)
	}
	return image
}

// apply writes the kept part of one write.
func (c Cut) apply(image *Image, e entry, rng *rand.Rand) {
	unit := c.Unit
	if unit == 0 {
		unit = SectorSize
	}
	switch {
	case c.Kept == KeptAll, c.Kept == KeptWrites && rng.IntN(2) == 0:
		image.Write(e.data, e.offset)
	case c.Kept == KeptSectors:
		for at := 0; at < len(e.data); at += unit {
			if rng.IntN(2) == 0 {
				image.Write(e.data[at:min(at+unit, len(e.data))], e.offset+int64(at))
			}
		}
	}
}
