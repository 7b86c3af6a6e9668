package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pack may claim anything: the answer is an error, without the memory.
func TestHostileEntries(t *testing.T) {
	victim := whole(3, "x")
	loop := packed{kind: entryNamedDelta, base: nameOf(victim), body: []byte{1, 1, 1, 'x'}, named: victim.named}
	missing := whole(3, "not in the pack")
	tests := map[string]struct {
		entry packed
		want  error
	}{
		"another object":   {packed{kind: 3, body: []byte("y"), named: victim.named}, ErrObjectCorrupt},
		"kind 0":           {packed{kind: 0, body: []byte("x"), named: victim.named}, ErrObjectCorrupt},
		"kind 5":           {packed{kind: 5, body: []byte("x"), named: victim.named}, ErrObjectCorrupt},
		"beyond the limit": {packed{kind: 3, size: 1 << 40, body: []byte("x"), named: victim.named}, ErrObjectTooLarge},
		"impossible size":  {packed{kind: 3, size: math.MaxInt64, body: []byte("x"), named: victim.named}, ErrObjectCorrupt},
		"not so much":      {packed{kind: 3, size: 60 << 20, body: []byte("x"), named: victim.named}, ErrObjectCorrupt},
		"own base":         {loop, ErrObjectCorrupt},
		"base missing":     {packed{kind: entryNamedDelta, base: nameOf(missing), body: loop.body, named: victim.named}, ErrObjectCorrupt},
		"base before all":  {packed{kind: entryOffsetDelta, base: []byte{100}, body: loop.body, named: victim.named}, ErrObjectCorrupt},
		"no distance":      {packed{kind: entryOffsetDelta, base: []byte{0}, body: loop.body, named: victim.named}, ErrObjectCorrupt},
		"huge distance":    {packed{kind: entryOffsetDelta, base: bytes.Repeat([]byte{0xff}, 30), body: loop.body, named: victim.named}, ErrObjectCorrupt},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pack, index := makePack(t, tt.entry)
			putPack(t, dir, "pack-1", pack, index)
			p := packsOf(t, dir)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := p.read(oidOf(victim.named), 64<<20)
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, tt.want)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
			// A whole one elsewhere is found.
			pack, index = makePack(t, victim)
			putPack(t, dir, "pack-2", pack, index)
			_, data, err := p.read(oidOf(victim.named), 64<<20)
			if tt.want == ErrObjectCorrupt {
				require.NoError(t, err)
				require.Equal(t, "x", string(data))
			}
		})
	}
}

// TestUnproven reads from a pack that has another object under the name.
func TestUnproven(t *testing.T) {
	victim, next := whole(3, "x"), whole(3, "z")
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "refs"), 0o755))
	pack, index := makePack(t, packed{kind: 3, body: []byte("y"), named: victim.named}, next)
	putPack(t, filepath.Join(dir, "objects"), "pack-1", pack, index)
	s, err := Open(dir, Options{Format: testFormat})
	require.NoError(t, err)
	defer s.Close()
	_, data, proven, err := s.ReadUnverified(oidOf(next.named))
	require.NoError(t, err)
	require.Equal(t, "z", string(data))
	require.True(t, proven, "no pack is known to be the one")

	kind, data, proven, err := s.ReadUnverified(oidOf(victim.named))
	require.NoError(t, err)
	require.Equal(t, "y", string(data))
	require.False(t, proven)
	require.False(t, s.Names(oidOf(victim.named), kind, data))
	require.True(t, s.Names(oidOf(victim.named), kind, []byte("x")))
	require.False(t, s.Names("", kind, []byte("x")))
	_, _, err = s.ReadObject(oidOf(victim.named))
	require.ErrorIs(t, err, ErrObjectCorrupt)
	_, _, proven, err = s.ReadUnverified("no name")
	require.ErrorIs(t, err, ErrOID)
	require.True(t, proven)
}

// TestUnprovenLoose reads a loose file with another object's bytes.
func TestUnprovenLoose(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "refs"), 0o755))
	named, stands := HashObject(testFormat, "blob", []byte("x")), Object{Kind: "blob", Data: []byte("y")}
	file := filepath.Join(dir, "objects", named.file())
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, deflate(nil, stands), 0o444))
	s, err := Open(dir, Options{Format: testFormat})
	require.NoError(t, err)
	defer s.Close()

	kind, data, proven, err := s.ReadUnverified(named)
	require.NoError(t, err)
	require.Equal(t, "y", string(data))
	require.False(t, proven)
	require.False(t, s.Names(named, kind, data))
	_, _, err = s.ReadObject(named)
	require.ErrorIs(t, err, ErrObjectCorrupt)
}

func TestDamagedFiles(t *testing.T) {
	victim := whole(1, "tree and so on\n")
	pack, index := makePack(t, victim, whole(3, "another"))
	fanTo := func(n uint32) func(b []byte) []byte {
		return func(b []byte) []byte {
			binary.BigEndian.PutUint32(b[fanAt+4*255:], n)
			return b
		}
	}
	cut := func(n int) func(b []byte) []byte { return func(b []byte) []byte { return b[:n] } }
	keep := cut(len(index))
	for name, tt := range map[string]struct {
		pack, index func([]byte) []byte
		want        error
	}{
		"whole":               {cut(len(pack)), keep, nil},
		"empty index":         {cut(len(pack)), cut(0), ErrObjectMissing},
		"index of a header":   {cut(len(pack)), cut(1031), ErrObjectMissing},
		"index cut":           {cut(len(pack)), cut(len(index) - 1), ErrObjectMissing},
		"fan-out falls":       {cut(len(pack)), fanTo(0), ErrObjectMissing},
		"fan-out of billions": {cut(len(pack)), fanTo(math.MaxUint32), ErrObjectMissing},
		"empty pack":          {cut(0), keep, ErrObjectMissing},
		"pack cut":            {cut(len(pack) - 1), keep, ErrObjectMissing},
		"pack of another": {func(b []byte) []byte {
			b[len(b)-1]++
			return b
		}, keep, ErrObjectMissing},
		"zeros in the pack": {func(b []byte) []byte {
			clear(b[packHeader : len(b)-rawLen])
			return b
		}, keep, ErrObjectCorrupt},
		"offset behind the end": {cut(len(pack)), func(b []byte) []byte {
			for i := range 8 {
				b[int(namesAt)+2*(rawLen+4)+i] = 0x7f
			}
			return b
		}, ErrObjectCorrupt},
		"large offset that is not there": {cut(len(pack)), func(b []byte) []byte {
			for i := range 8 {
				b[int(namesAt)+2*(rawLen+4)+i] = 0xff
			}
			return b
		}, ErrObjectCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			putPack(t, dir, "pack-1", tt.pack(bytes.Clone(pack)), tt.index(bytes.Clone(index)))
			p := packsOf(t, dir)
			_, _, err := p.read(oidOf(victim.named), 1<<20)
			require.ErrorIs(t, err, tt.want)
			require.False(t, p.foreign.Load(), "who reads other versions would be asked")
		})
	}
}

func TestPackThatIsCutWhileOpen(t *testing.T) {
	dir := t.TempDir()
	victim := whole(3, strings.Repeat("x", 40_000))
	noise := make([]byte, 200_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	pack, index := makePack(t, whole(3, string(noise)), victim)
	putPack(t, dir, "pack-1", pack, index)
	p := packsOf(t, dir)
	require.NoError(t, os.Truncate(filepath.Join(dir, "pack/pack-1.pack"), 100))
	_, _, err := p.read(oidOf(victim.named), 1<<20)
	require.ErrorIs(t, err, ErrObjectCorrupt)
}

// FuzzPack reads all objects that a pack and an index claim to have: each result has its name, or is an
// error.
func FuzzPack(f *testing.F) {
	text := whole(3, "hello world")
	delta := packed{kind: entryNamedDelta, base: nameOf(text), body: []byte{11, 3, 0x90, 3}, named: whole(3, "hel").named}
	pack, index := makePack(f, text, whole(1, strings.Repeat("commit", 50)), delta)
	f.Add(pack, index, 0, byte(0))
	f.Add(pack, index, 13, byte(0x70))
	f.Fuzz(func(t *testing.T, pack, index []byte, at int, with byte) {
		if len(pack) < packHeader+rawLen || len(index) < indexSums {
			return
		}
		pack, index = bytes.Clone(pack), bytes.Clone(index)
		pack[uint(at)%uint(len(pack))] ^= with
		copy(index[len(index)-indexSums:], pack[len(pack)-rawLen:]) // else every read would fail
		dir := t.TempDir()
		putPack(t, dir, "pack-1", pack, index)
		p := packsOf(t, dir)
		for at := int(namesAt); at+rawLen <= len(index) && at < int(namesAt)+40*rawLen; at += rawLen {
			name := rawName{}
			copy(name[:], index[at:at+rawLen])
			oid := oidOf(name)
			kind, data, err := p.read(oid, 1<<20)
			if err == nil {
				require.Equal(t, oid, HashObject(testFormat, kind, data))
			}
		}
	})
}

// Deltas whose bases form a circle, or a longer chain than git makes, end with an error.
func TestDeltasWithoutAnEnd(t *testing.T) {
	name := func(i int) rawName { return whole(3, string(rune('a'+i))).named }
	circle := func(n int) (all []packed) {
		for i := range n {
			base := name((i + 1) % n)
			all = append(all, packed{kind: entryNamedDelta, base: base[:rawLen], body: []byte{1, 1, 1, 'x'}, named: name(i)})
		}
		return all
	}
	chain := func(n int) []packed {
		all := []packed{whole(3, "x")}
		for range n {
			base, made := all[len(all)-1].named, rawName{}
			made[0], made[1], made[2] = 0xee, byte(len(all)>>8), byte(len(all))
			all = append(all, packed{kind: entryNamedDelta, base: base[:rawLen], body: []byte{1, 1, 1, 'x'}, named: made})
		}
		all[len(all)-1].named = whole(3, "x").named // the newest one has the right name
		all[0].named = rawName{0xee}
		all[1].base = nameOf(all[0])
		return all
	}
	for title, tt := range map[string]struct {
		entries []packed
		read    rawName
		want    error
	}{
		"a circle of two":   {circle(2), name(0), ErrObjectCorrupt},
		"a circle of seven": {circle(7), name(3), ErrObjectCorrupt},
		"the longest chain": {chain(maxChain), whole(3, "x").named, nil},
		"one more":          {chain(maxChain + 1), whole(3, "x").named, ErrObjectCorrupt},
		"makes too much":    {[]packed{whole(3, "x"), {kind: entryNamedDelta, base: nameOf(whole(3, "x")), body: []byte{1, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 'x'}, named: name(1)}}, name(1), ErrObjectTooLarge},
	} {
		t.Run(title, func(t *testing.T) {
			dir := t.TempDir()
			pack, index := makePack(t, tt.entries...)
			putPack(t, dir, "pack-1", pack, index)
			_, data, err := packsOf(t, dir).read(oidOf(tt.read), 1<<20)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "x", string(data))
		})
	}
}

func nameOf(p packed) []byte { return p.named[:rawLen] }

// After any cut of a pack or its index, or a change of any byte, a read returns an object that has its
// name, or an error that tells the fault.
func TestDamageAnywhere(t *testing.T) {
	text := whole(3, "hello world")
	delta := packed{kind: entryNamedDelta, base: nameOf(text), body: []byte{11, 3, 0x90, 3}, named: whole(3, "hel").named}
	all := []packed{text, delta, whole(1, strings.Repeat("commit", 50))}
	pack, index := makePack(t, all...)
	dir := t.TempDir()
	check := func(pack, index []byte, at int) (errs int) {
		putPack(t, dir, "pack-1", pack, index)
		p := &packSet{}
		p.open(func() []string { return []string{dir} }, testFormat)
		for _, e := range all {
			oid := oidOf(e.named)
			kind, data, err := p.read(oid, 1<<20)
			if err != nil {
				require.True(t, errors.Is(err, ErrObjectCorrupt) || errors.Is(err, ErrObjectMissing) || errors.Is(err, ErrObjectTooLarge), "at %d: %v", at, err)
				errs++
				continue
			}
			require.Equal(t, oid, HashObject(testFormat, kind, data), at)
		}
		require.NoError(t, p.close())
		return errs
	}
	require.Zero(t, check(pack, index, 0))
	for n := range pack {
		require.Positive(t, check(pack[:n], index, n))
		other := bytes.Clone(pack)
		other[n] ^= 0x55
		check(other, index, n) // a checksum that jp does not read may differ
	}
	for n := len(index) - 1; n >= 0; n -= 1 + n/60 {
		require.Positive(t, check(pack, index[:n], n))
		other := bytes.Clone(index)
		other[n] ^= 0x55
		check(pack, other, n)
	}
}
