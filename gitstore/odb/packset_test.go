package odb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeltasOfBothKinds(t *testing.T) {
	base := whole(3, "hello world")
	text := "hello there, world"
	delta := append([]byte{byte(len(base.body)), byte(len(text)), 0x90, 6, 6}, "there,"...)
	delta = append(delta, 0x91, 5, 6)
	var h hasher
	result := h.hash(testFormat, "blob", []byte(text))
	plain, _ := makePack(t, base)
	for name, e := range map[string]packed{
		"by offset": {kind: entryOffsetDelta, base: []byte{byte(len(plain) - rawLen - packHeader)}, body: delta, named: result},
		"by name":   {kind: entryNamedDelta, base: nameOf(base), body: delta, named: result},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pack, index := makePack(t, base, e)
			putPack(t, dir, "pack-1", pack, index)
			for range 2 { // the base from the pack, then as it was kept
				kind, data, err := packsOf(t, dir).read(oidOf(result), 1<<20)
				require.NoError(t, err)
				require.Equal(t, "blob", kind)
				require.Equal(t, text, string(data))
			}
			_, _, err := packsOf(t, dir).read(oidOf(result), 12)
			require.ErrorIs(t, err, ErrObjectTooLarge)
		})
	}
}

func TestApplyDeltaRefuses(t *testing.T) {
	base := []byte("hello world")
	for name, delta := range map[string][]byte{
		"nothing":           {},
		"no end of a size":  {0x80, 0x80},
		"endless size":      bytes.Repeat([]byte{0x80}, 20),
		"another base":      {12, 1, 1, 'x'},
		"reserved":          {11, 1, 0},
		"too little":        {11, 5, 1, 'x'},
		"too much":          {11, 1, 2, 'x', 'y'},
		"cut off insertion": {11, 5, 5, 'x'},
		"cut off copy":      {11, 5, 0x91},
		"behind the base":   {11, 5, 0x91, 7, 5},
		"far behind":        {11, 5, 0x9f, 255, 255, 255, 255, 5},
		"default length":    {11, 5, 0x80},
	} {
		_, err := applyDelta(base, delta, 1<<20)
		require.ErrorIs(t, err, ErrObjectCorrupt, name)
	}
}

// With any number of packs, few files are open, and all are closed after the end.
func TestFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	var all []packed
	for i := range 2 * maxHandles {
		all = append(all, whole(3, fmt.Sprint("object ", i)))
		pack, index := makePack(t, all[i])
		putPack(t, dir, fmt.Sprint("pack-", i), pack, index)
	}
	p := packsOf(t, dir)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for _, e := range all {
				_, data, err := p.read(oidOf(e.named), 1<<20)
				if err != nil || !bytes.Equal(e.body, data) {
					t.Errorf("%s: %v", e.body, err)
				}
			}
		})
	}
	readers.Wait()
	require.LessOrEqual(t, len(p.files.open), maxHandles)
	require.NotEmpty(t, p.files.open)
	require.NoError(t, p.close())
	require.Empty(t, p.files.open)
	if _, _, err := p.read(oidOf(all[0].named), 1<<20); err != nil { // a reader may still hold its last object
		require.ErrorIs(t, err, ErrObjectMissing)
	}
	require.Empty(t, p.files.open)
}

// A pack that has been removed can be read until there are others again.
func TestRemovedPack(t *testing.T) {
	dir := t.TempDir()
	old := whole(3, "old")
	pack, index := makePack(t, old)
	putPack(t, dir, "pack-1", pack, index)
	p := packsOf(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "pack")))
	missing := whole(3, "missing")
	for range 2 {
		_, _, err := p.read(oidOf(missing.named), 1<<20)
		require.ErrorIs(t, err, ErrObjectMissing)
		_, _, err = p.read(oidOf(old.named), 1<<20)
		require.NoError(t, err)
	}
	later := whole(3, "later")
	pack, index = makePack(t, later)
	putPack(t, dir, "pack-2", pack, index)
	_, _, err := p.read(oidOf(later.named), 1<<20)
	require.NoError(t, err)
	_, _, err = p.read(oidOf(old.named), 1<<20)
	require.ErrorIs(t, err, ErrObjectMissing)
	require.Len(t, p.found, 1)
	require.Equal(t, int64(indexMemory-len(index)), p.room.Load())
}

func TestIndexesBeyondTheMemory(t *testing.T) {
	dir := t.TempDir()
	var all []packed
	for i := range 600 { // more than one bucket, all with names of the same beginning
		e := whole(3, fmt.Sprint("object ", i))
		e.named[0] = 7
		all = append(all, e)
	}
	pack, index := makePack(t, all...)
	putPack(t, dir, "pack-1", pack, index)
	var files handles
	for _, memory := range []int64{0, 1 << 20} {
		var room atomic.Int64
		room.Store(memory)
		p, err := openPack(&files, filepath.Join(dir, "pack/pack-1.idx"), &room, rawLen)
		require.NoError(t, err)
		r := &packReader{}
		for i, e := range all {
			require.Equal(t, memory > 0 && i > 0, p.names.held.Load() != nil, "in memory once it has been asked often enough")
			at, found, err := p.find(&e.named, &r.names)
			require.NoError(t, err)
			require.True(t, found)
			_, data, err := r.object(p, at, 1<<20, &baseCache{})
			require.NoError(t, err)
			require.Equal(t, e.body, data)
			e.named[rawLen-1]++
			_, found, err = p.find(&e.named, &r.names)
			require.NoError(t, err)
			require.False(t, found)
		}
		p.close()
		require.Equal(t, memory, room.Load())
	}
	require.NoError(t, files.close())
}

// TestIndexMemoryComesBack drops packs under their readers.
func TestIndexMemoryComesBack(t *testing.T) {
	dir := t.TempDir()
	e := whole(3, "object")
	pack, index := makePack(t, e)
	putPack(t, dir, "pack-1", pack, index)
	var room atomic.Int64
	room.Store(indexMemory)
	for range 300 {
		var files handles
		p, err := openPack(&files, filepath.Join(dir, "pack/pack-1.idx"), &room, rawLen)
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(p.names.lookup)
		wg.Go(p.names.forget)
		wg.Wait()
		require.NoError(t, files.close())
	}
	require.Equal(t, int64(indexMemory), room.Load())
}

// TestIndexIsReadWhole holds that an index moves into memory under its readers.
func TestIndexIsReadWhole(t *testing.T) {
	dir := t.TempDir()
	var all []packed
	for i := range 5000 {
		all = append(all, whole(3, fmt.Sprint("object ", i)))
	}
	pack, index := makePack(t, all...)
	putPack(t, dir, "pack-1", pack, index)
	p := packsOf(t, dir)
	var wg sync.WaitGroup
	for from := range 4 {
		wg.Go(func() {
			for i := from; i < len(all); i += 4 {
				_, data, err := p.read(oidOf(all[i].named), 1<<20)
				if err != nil || !bytes.Equal(data, all[i].body) {
					t.Errorf("object %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, int64(indexMemory-len(index)), p.room.Load())
	require.NoError(t, p.close())
}

func TestBaseCacheIsBounded(t *testing.T) {
	var c baseCache
	p := &pack{}
	for i := range int64(100) {
		c.put(&base{baseKey{p, i}, "blob", make([]byte, 1<<20)})
		c.get(baseKey{p, 0})
		require.LessOrEqual(t, c.bytes, maxBases)
	}
	_, kept := c.get(baseKey{p, 0})
	require.True(t, kept, "the one used last went")
	_, kept = c.get(baseKey{p, 50})
	require.False(t, kept)
	c.put(&base{baseKey{p, 1000}, "blob", make([]byte, maxBases/2)})
	_, kept = c.get(baseKey{p, 1000})
	require.False(t, kept)
	c.forget(p)
	require.Zero(t, c.bytes)
	require.Empty(t, c.found)
}
