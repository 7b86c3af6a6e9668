package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"jp/gitcmd"
)

// The layout of an index of version 2: magic, version, the fan-out table, then
// one name, checksum and offset for each object, the large offsets, and the
// sums of pack and index.
const (
	indexMagic  = "\xfftOc\x00\x00\x00\x02"
	fanAt       = len(indexMagic)
	namesAt     = int64(fanAt + 256*4)
	largeOffset = 1 << 31
	// bucket is the number of names to read at once when few are left to search.
	bucket = 128
)

// errIndexVersion means that an index has another version than 2.
var errIndexVersion = errors.New("pack index of another version")

// packIndex finds the offsets of a pack's objects.
type packIndex struct {
	r     io.ReaderAt
	fan   [256]uint32 // how many names begin with this byte or a lower one
	large int64       // number of large offsets
	raw   int         // the length of a name
	sum   rawName     // of the pack
}

// perObject is how many bytes an object takes, without a large offset.
func (x *packIndex) perObject() int64 { return int64(x.raw) + 4 + 4 }

// sums is how many bytes the sums of pack and index take.
func (x *packIndex) sums() int64 { return 2 * int64(x.raw) }

// readIndex checks the size and the fan-out table. It does not check the names: if they are out of order,
// lookups miss objects.
func readIndex(r io.ReaderAt, size int64, raw int) (*packIndex, error) {
	x := &packIndex{r: r, raw: raw}
	var head [namesAt]byte
	if err := readFull(r, head[:], 0); err != nil {
		return nil, err
	}
	if string(head[:fanAt]) != indexMagic {
		return nil, errIndexVersion
	}
	last := uint32(0)
	for i := range x.fan {
		x.fan[i] = binary.BigEndian.Uint32(head[fanAt+4*i:])
		if x.fan[i] < last {
			return nil, fmt.Errorf("%w: the fan-out table of the index falls", ErrObjectCorrupt)
		}
		last = x.fan[i]
	}
	large := size - namesAt - x.count()*x.perObject() - x.sums()
	if large < 0 || large%8 != 0 || large/8 > x.count() {
		return nil, fmt.Errorf("%w: an index of %d objects has %d bytes", ErrObjectCorrupt, x.count(), size)
	}
	x.large = large / 8
	return x, readFull(r, x.sum[:raw], size-x.sums())
}

func (x *packIndex) count() int64 { return int64(x.fan[255]) }

// find gives the offset of an object in the pack. buf is room for a bucket.
func (x *packIndex) find(named *rawName, buf *[bucket * gitcmd.MaxDigest]byte) (offset int64, found bool, err error) {
	raw, name := int64(x.raw), named[:x.raw]
	lo, hi := int64(0), int64(x.fan[name[0]])
	if name[0] > 0 {
		lo = int64(x.fan[name[0]-1])
	}
	for hi-lo > bucket {
		mid := lo + (hi-lo)/2
		if err := readFull(x.r, buf[:raw], namesAt+mid*raw); err != nil {
			return 0, false, err
		}
		if bytes.Compare(buf[:raw], name) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	names := buf[:(hi-lo)*raw]
	if len(names) == 0 {
		return 0, false, nil
	}
	if err := readFull(x.r, names, namesAt+lo*raw); err != nil {
		return 0, false, err
	}
	at := func(i int) []byte { return names[i*x.raw : (i+1)*x.raw] }
	i := sort.Search(int(hi-lo), func(i int) bool { return bytes.Compare(at(i), name) >= 0 })
	if i == int(hi-lo) || !bytes.Equal(at(i), name) {
		return 0, false, nil
	}
	offset, err = x.offset(lo+int64(i), buf[:8])
	return offset, err == nil, err
}

func (x *packIndex) offset(i int64, buf []byte) (int64, error) {
	offsets := namesAt + x.count()*int64(x.raw+4)
	if err := readFull(x.r, buf[:4], offsets+4*i); err != nil {
		return 0, err
	}
	small := binary.BigEndian.Uint32(buf)
	if small < largeOffset {
		return int64(small), nil
	}
	j := int64(small - largeOffset)
	if j >= x.large {
		return 0, fmt.Errorf("%w: the index has no large offset %d", ErrObjectCorrupt, j)
	}
	if err := readFull(x.r, buf[:8], offsets+4*x.count()+8*j); err != nil {
		return 0, err
	}
	offset := binary.BigEndian.Uint64(buf)
	if offset > math.MaxInt64 {
		return 0, fmt.Errorf("%w: the index has an offset of %d", ErrObjectCorrupt, offset)
	}
	return int64(offset), nil
}

// readFull reads all of p; a file that ends before is damaged.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		return fmt.Errorf("%w: the file ends too early", ErrObjectCorrupt)
	}
	return err
}
