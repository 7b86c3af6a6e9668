package sidecar

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"os"
	"sort"
	"sync"

	"golang.org/x/sys/unix"

	"jp/search/needle"
)

// An ID names an object. Of a shorter name the rest is zero.
type ID [sha256.Size]byte

// IDs is how long the ids of a repository are in bytes, and so in its files.
type IDs int

// head is how long what stands before a record is: id, length, checksum of id and bytes.
func (n IDs) head() int { return int(n) + 4 + 4 }

// take reads an id.
func (n IDs) take(from []byte) (id ID) {
	copy(id[:], from[:n])
	return id
}

// sum is the checksum in the head of a record.
func (n IDs) sum(head []byte) uint32 { return binary.BigEndian.Uint32(head[n+4:]) }

// record is what the bytes of one hold.
func (n IDs) record(bytes []byte) Record {
	return Record{ID: n.take(bytes), Raw: bytes[n.head():]}
}

// A Record is one raw commit under its id.
type Record struct {
	ID  ID
	Raw []byte
}

const (
	magic = "jp-commits 1\n"
	// maxRaw is more than any commit that is an event may have.
	maxRaw = 64 << 20
)

// castagnoli is the table of the checksums: most commands need none.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// A Log is a file of records, oldest first, as it was when it was read.
type Log struct {
	ids  IDs
	path string
	data []byte
	ends []int // of the records in data
}

// Read reads a file as far as it is whole. A missing one has no records. The
// buffer may be nil; the log uses it, and [Log.Buffer] gives it back.
func Read(path string, buffer []byte, ids IDs) *Log {
	l := &Log{ids: ids, path: path, data: readInto(path, buffer[:0])}
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
	if len(l.data)-at < l.ids.head() {
		return 0, false
	}
	begin := at + l.ids.head()
	head := l.data[at:begin]
	n := int(binary.BigEndian.Uint32(head[l.ids:]))
	if end = begin + n; n > maxRaw || end > len(l.data) {
		return 0, false
	}
	return end, l.ids.sum(head) == checksum(head[:l.ids], l.data[begin:end])
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
	return l.ids.record(l.data[p.at:p.end])
}

// place is where the i-th record is.
func (l *Log) place(i int) Place {
	at := len(magic)
	if i > 0 {
		at = l.ends[i-1]
	}
	return Place{at: at, end: l.ends[i], sum: l.ids.sum(l.data[at:])}
}

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
		l.data = append(l.data, r.ID[:l.ids]...)
		l.data = binary.BigEndian.AppendUint32(l.data, uint32(len(r.Raw)))
		l.data = binary.BigEndian.AppendUint32(l.data, checksum(r.ID[:l.ids], r.Raw))
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
		head := make([]byte, l.ids.head())
		at := l.place(keep - 1).at
		if _, err := f.ReadAt(head, int64(at)); err != nil || !bytes.Equal(head, l.data[at:at+len(head)]) {
			return err
		}
	}
	if err := f.Truncate(int64(whole)); err != nil {
		return err
	}
	_, err = f.WriteAt(l.data[whole:], int64(whole))
	return err
}
