package powercut

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sectors is how many a disk of these tests has.
const sectors = 24

// history draws the calls to a disk. Every write has a byte of its own, so that each sector tells its
// write; 0 is from before all.
func history(t *rapid.T) *Log {
	l := &Log{}
	for n := range rapid.IntRange(0, 40).Draw(t, "entries") {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			l.flush()
		case 1:
			l.mark("done")
		default:
			first := rapid.IntRange(0, sectors-1).Draw(t, "first")
			count := rapid.IntRange(1, sectors-first).Draw(t, "count")
			l.write(bytes.Repeat([]byte{byte(n + 1)}, count*SectorSize), int64(first*SectorSize))
		}
	}
	return l
}

// writers says from which write each sector of an image is.
func writers(t require.TestingT, i *Image) []int {
	var from []int
	for n := range sectors {
		sector := make([]byte, SectorSize)
		i.Read(sector, int64(n*SectorSize))
		require.Equal(t, bytes.Repeat(sector[:1], SectorSize), sector, "sector %d is torn", n)
		from = append(from, int(sector[0]))
	}
	return from
}

// whole are the writers of each sector after the first n entries, all of them kept.
func whole(l *Log, n int) []int {
	from := make([]int, sectors)
	for i, e := range l.entries[:n] {
		for s := range len(e.data) / SectorSize {
			from[int(e.offset)/SectorSize+s] = i + 1
		}
	}
	return from
}

func TestCutKeepsWhatWasFlushed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := history(t)
		before := NewImage(nil)
		replay := NewReplay(before, l)
		for at := range l.Len() + 1 {
			cut := Cut{At: at, Kept: KeptOf(rapid.IntRange(0, 3).Draw(t, "kept")), Seed: rapid.Uint64().Draw(t, "seed")}
			image := replay.Image(cut)
			flushed := l.flushed(at)
			durable, last, got := whole(l, flushed), whole(l, at), writers(t, image)
			for s := range sectors {
				switch cut.Kept {
				case KeptNone:
					require.Equal(t, durable[s], got[s], "%v: sector %d", cut, s)
				case KeptAll:
					require.Equal(t, last[s], got[s], "%v: sector %d", cut, s)
				default:
					require.True(t, got[s] == durable[s] || got[s] > flushed && got[s] <= at, "%v: sector %d is from %d", cut, s, got[s])
				}
			}
			image.Write([]byte("recovered"), 0) // does not change the next one
		}
		require.Equal(t, make([]int, sectors), writers(t, before))
	})
}

func TestCutLosesAtRandom(t *testing.T) {
	l := &Log{}
	for n := range 3 {
		l.write(bytes.Repeat([]byte{byte(n + 1)}, 8*SectorSize), int64(n*8*SectorSize))
	}
	for _, kept := range []Survivors{KeptSectors, KeptWrites} {
		whole, torn, seen := 0, 0, map[string]bool{}
		for seed := range uint64(200) {
			got := writers(t, NewReplay(NewImage(nil), l).Image(Cut{At: 3, Kept: kept, Seed: seed}))
			for n := range 3 {
				switch part := got[n*8 : n*8+8]; {
				case bytes.Count(asBytes(part), []byte{byte(n + 1)})%8 == 0:
					whole++
				default:
					torn++
				}
			}
			seen[string(asBytes(got))] = true
		}
		if kept == KeptWrites {
			require.Zero(t, torn, "writes are whole or gone")
			require.Len(t, seen, 8, "every choice of three writes comes")
			continue
		}
		require.Greater(t, torn, whole)
		require.Len(t, seen, 200)
	}
}

func asBytes(numbers []int) []byte {
	var out []byte
	for _, n := range numbers {
		out = append(out, byte(n))
	}
	return out
}

func TestCutsInOrder(t *testing.T) {
	l := &Log{}
	l.write([]byte{1}, 0)
	l.flush()
	r := NewReplay(NewImage(nil), l)
	r.Image(Cut{At: 2})
	require.Panics(t, func() { r.Image(Cut{At: 1}) })
}

func TestDiskRecords(t *testing.T) {
	d := NewDisk(NewImage(nil))
	d.write([]byte("old"), 0)
	d.flush()
	before := d.Record()
	d.write([]byte("new"), 0)
	d.mark("one")
	d.flush()
	d.mark("two")
	log := d.Stop()
	d.write([]byte("end"), 0)
	d.flush()
	d.mark("three")

	require.Equal(t, []Mark{{"one", 2}, {"two", 4}}, log.Marks())
	writes, flushes, size := log.Counts()
	require.Equal(t, []int{1, 1, 3}, []int{writes, flushes, int(size)})
	for at, want := range map[int]int{0: 0, 1: 0, 2: 0, 3: 3, 4: 3} {
		require.Equal(t, want, log.flushed(at), at)
	}
	text := make([]byte, 3)
	before.Read(text, 0)
	require.Equal(t, "old", string(text), "what was before the record stays")
	d.read(text, 0)
	require.Equal(t, "end", string(text))
}

func TestCutTearsNoUnit(t *testing.T) {
	l := &Log{}
	l.write(bytes.Repeat([]byte{1}, sectors*SectorSize), 0)
	kept := map[int]bool{}
	for seed := range uint64(200) {
		got := writers(t, NewReplay(NewImage(nil), l).Image(Cut{At: 1, Kept: KeptSectors, Seed: seed, Unit: 4 * SectorSize}))
		n := 0
		for s := 0; s < sectors; s += 4 {
			require.Equal(t, slices.Repeat(got[s:s+1], 4), got[s:s+4])
			n += got[s]
		}
		kept[n] = true
	}
	require.Greater(t, len(kept), 3, "some units are kept, and others not")
}
