package odb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// packed is one entry of a pack that a test makes.
type packed struct {
	kind  byte
	size  int64  // the claimed one; that of body if it is 0
	base  []byte // the bytes between size and body
	body  []byte // before it is deflated
	named rawName
}

func whole(kind byte, text string) packed {
	var h hasher
	return packed{kind: kind, body: []byte(text), named: h.hash(testFormat, entryKinds[kind], []byte(text))}
}

func makePack(t require.TestingT, entries ...packed) (pack, index []byte) {
	pack = binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(entries)))
	offsets := map[rawName]uint32{}
	for _, e := range entries {
		offsets[e.named] = uint32(len(pack))
		size := cmp.Or(e.size, int64(len(e.body)))
		first := e.kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			pack = append(pack, first|0x80)
			first = byte(size & 0x7f)
		}
		pack = append(append(append(pack, first), e.base...), zlibbed(t, e.body, 6)...)
	}
	sum := sumOf(pack)
	return append(pack, sum...), makeIndex(offsets, sum)
}

func makeIndex(offsets map[rawName]uint32, sum []byte) []byte {
	var names []rawName
	for name := range offsets {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b rawName) int { return bytes.Compare(a[:], b[:]) })
	out := []byte(indexMagic)
	for i := range 256 {
		n := 0
		for n < len(names) && int(names[n][0]) <= i {
			n++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	for _, name := range names {
		out = append(out, name[:rawLen]...)
	}
	out = append(out, make([]byte, 4*len(names))...)
	for _, name := range names {
		out = binary.BigEndian.AppendUint32(out, offsets[name])
	}
	out = append(out, sum...)
	return append(out, sumOf(out)...)
}

func sumOf(data []byte) []byte {
	h := testFormat.New()
	h.Write(data)
	return h.Sum(nil)
}

func putPack(t require.TestingT, dir, name string, pack, index []byte) {
	dir = filepath.Join(dir, "pack")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".pack"), pack, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".idx"), index, 0o644))
}

func packsOf(t testing.TB, dirs ...string) *packSet {
	p := &packSet{}
	p.open(func() []string { return dirs }, testFormat)
	t.Cleanup(func() { require.NoError(t, p.close()) })
	return p
}

func oidOf(name rawName) OID { return OID(fmt.Sprintf("%x", name[:rawLen])) }
