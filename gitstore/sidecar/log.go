package sidecar

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"sort"
	"sync"

	"golang.org/x/sys/unix"

	"jp/search/needle"
)

// An ID names an object.
type ID [20]byte

// A Record is one raw commit under its id.
type Record struct {
	ID  ID
	Raw []byte
}

const (
	magic   = "jp-commits 1\n"
	headLen = len(ID{}) + 4 + 4 // id, length, checksum of id and bytes
	// maxRaw is more than any commit that is an event may have.
	maxRaw = 64 << 20
)

// castagnoli is the table of the checksums: most commands need none.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// A Log is a file of records, oldest first, as it was when it was read.
type Log struct {
	path string
	data []byte
	ends []int // of the records in data
}

// Read reads a file as far as it is whole. A missing one has no records. The
// buffer may be nil; the log uses it, and [Log.Buffer] gives it back.
func Read(path string, buffer []byte) *Log {
	l := &Log{path: path, data: readInto(path, buffer[:0])}
	at := len(magic)
	if !bytes.HasPrefix(l.data, []byte(magic)) {
		l.data = l.data[:0]
		return l
	}
	for {
		end, ok := l.whole(at)
		if !ok {
			return l
		}
		l.ends = append(l.ends, end)
		at = end
	}
}

// whole reports where the record at an offset ends, if it is one.
func (l *Log) whole(at int) (end int, ok bool) {
	if len(l.data)-at < headLen {
		return 0, false
	}
	head := l.data[at : at+headLen]
	n := int(binary.BigEndian.Uint32(head[len(ID{}):]))
	if end = at + headLen + n; n > maxRaw || end > len(l.data) {
		return 0, false
	}
	return end, sumIn(head) == checksum(head[:len(ID{})], l.data[at+headLen:end])
}

func checksum(id, raw []byte) uint32 {
	return crc32.Update(crc32.Checksum(id, castagnoli()), castagnoli(), raw)
}

// Buffer gives the log's memory back; nothing of the log may be used any more.
func (l *Log) Buffer() []byte { return l.data }

// Len is the number of records.
func (l *Log) Len() int { return len(l.ends) }

// Record is the i-th record. Its bytes are the log's.
func (l *Log) Record(i int) Record {
	p := l.place(i)
	return recordOf(l.data[p.at:p.end])
}

func recordOf(bytes []byte) Record {
	return Record{ID: ID(bytes[:len(ID{})]), Raw: bytes[headLen:]}
}

// place is where the i-th record is.
func (l *Log) place(i int) Place {
	at := len(magic)
	if i > 0 {
		at = l.ends[i-1]
	}
	return Place{at: at, end: l.ends[i], sum: sumIn(l.data[at:])}
}

// sumIn is the checksum in the head of a record.
func sumIn(head []byte) uint32 { return binary.BigEndian.Uint32(head[len(ID{})+4:]) }

// Index finds a record, newest first, or -1.
func (l *Log) Index(id ID) int {
	for i := l.Len() - 1; i >= 0; i-- {
		if l.Record(i).ID == id {
			return i
		}
	}
	return -1
}

// Keep forgets all records but the first n; the next Extend writes that.
func (l *Log) Keep(n int) { l.ends = l.ends[:n] }

// Find returns the indices of the records that hold one of the needles, in
// order.
func (l *Log) Find(needles []needle.Needle) []int {
	if l.Len() == 0 {
		return nil
	}
	hit := map[int]bool{}
	for _, n := range needle.Merge(needles) {
		f := n.In(l.data[:l.end()])
		for at := f.From(len(magic)); at >= 0; at = f.From(at) {
			// What begins in the head of a record stands in none: one too many is found.
			r := sort.SearchInts(l.ends, at+1)
			hit[r] = true
			at = l.ends[r]
		}
	}
	found := make([]int, 0, len(hit))
	for r := range hit {
		found = append(found, r)
	}
	sort.Ints(found)
	return found
}

// end is where the last record ends; there is one.
func (l *Log) end() int { return l.ends[len(l.ends)-1] }

// Extend makes the records [0,keep) and the ones given the content of the log
// and of its file. Where the file is not what was read any more, because another
// process extends it, only the log in memory grows.
func (l *Log) Extend(keep int, records []Record) error {
	whole := len(magic)
	if keep > 0 {
		whole = l.ends[keep-1]
	}
	was := len(l.data)
	if was == 0 {
		l.data = append(l.data, magic...)
	}
	l.data, l.ends = l.data[:whole], l.ends[:keep]
	for _, r := range records {
		l.data = append(l.data, r.ID[:]...)
		l.data = binary.BigEndian.AppendUint32(l.data, uint32(len(r.Raw)))
		l.data = binary.BigEndian.AppendUint32(l.data, checksum(r.ID[:], r.Raw))
		l.data = append(l.data, r.Raw...)
		l.ends = append(l.ends, len(l.data))
	}
	switch {
	case l.path == "":
		return nil
	case was == 0:
		return replace(l.path, l.data)
	}
	return l.extendFile(was, whole, keep)
}

// Detach leaves the file as it is from now on: only the log in memory grows.
func (l *Log) Detach() { l.path = "" }

// extendFile cuts the file behind what is whole and writes the rest, if the file
// is as long as it was and has the last of the records that are kept.
func (l *Log) extendFile(was, whole, keep int) error {
	f, err := os.OpenFile(l.path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if !lock(f) {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Size() != int64(was) {
		return err
	}
	if keep > 0 {
		var head [headLen]byte
		at := l.place(keep - 1).at
		if _, err := f.ReadAt(head[:], int64(at)); err != nil || !bytes.Equal(head[:], l.data[at:at+headLen]) {
			return err
		}
	}
	if err := f.Truncate(int64(whole)); err != nil {
		return err
	}
	_, err = f.WriteAt(l.data[whole:], int64(whole))
	return err
}
