package sidecar

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"sort"
	"sync"

	"jp/search"
)

// An ID names an object. Of a shorter name the rest is zero.
type ID [sha256.Size]byte

// IDs is the length of a repository's ids in bytes, and so in its files.
type IDs int

// head is the length of the bytes before a record: id, length, checksum of id and bytes.
func (n IDs) head() int { return int(n) + 4 + 4 }

func (n IDs) take(from []byte) (id ID) {
	copy(id[:], from[:n])
	return id
}

// sum is the checksum in the head of a record.
func (n IDs) sum(head []byte) uint32 { return binary.BigEndian.Uint32(head[n+4:]) }

// record decodes the bytes of one record.
func (n IDs) record(bytes []byte) Record {
	return Record{ID: n.take(bytes), Raw: bytes[n.head():]}
}

// A Record is one raw commit under its id.
type Record struct {
	ID  ID
	Raw []byte
}

const (
	magic = "jp-commits 2\n"
	// MaxLog is the greatest size of a log in bytes. It is more than a segment of events that jp
	// has written.
	MaxLog = 64 << 20
)

// castagnoli is the table of the checksums: most commands need none.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// A Log is the records of a segment, oldest first.
type Log struct {
	ids  IDs
	data []byte // as they stand in the file
	ends []int  // of the records
}

// NewLog makes a log without records. The buffer may be nil; the log uses it, and
// [Log.Buffer] gives it back.
func NewLog(buffer []byte, ids IDs) *Log {
	return &Log{ids: ids, data: append(buffer[:0], magic...)}
}

// Read reads a file as far as it is whole. A missing one has no records. The buffer is as for [NewLog].
func Read(path string, buffer []byte, ids IDs) *Log {
	l := &Log{ids: ids, data: readInto(path, buffer[:0])}
	if !bytes.HasPrefix(l.data, []byte(magic)) {
		return NewLog(l.data, ids)
	}
	for at := len(magic); ; {
		end, ok := ids.whole(l.data, at)
		if !ok {
			l.data = l.data[:at]
			return l
		}
		l.ends = append(l.ends, end)
		at = end
	}
}

// whole returns the end of the record at an offset of data, if there is one.
func (n IDs) whole(data []byte, at int) (end int, ok bool) {
	if len(data)-at < n.head() {
		return 0, false
	}
	begin := at + n.head()
	head := data[at:begin]
	size := int(binary.BigEndian.Uint32(head[n:]))
	if end = begin + size; size > MaxLog || end > len(data) {
		return 0, false
	}
	return end, n.sum(head) == checksum(head[:n], data[begin:end])
}

func checksum(id, raw []byte) uint32 {
	return crc32.Update(crc32.Checksum(id, castagnoli()), castagnoli(), raw)
}

// Buffer gives the log's memory back. The caller must have finished with the log.
func (l *Log) Buffer() []byte { return l.data }

// Len is the number of records.
func (l *Log) Len() int { return len(l.ends) }

// Size is how many bytes the log has.
func (l *Log) Size() int { return l.begin(l.Len()) }

// begin is the offset of the i-th record's beginning, also of the next one to come.
func (l *Log) begin(i int) int {
	if i == 0 {
		return len(magic)
	}
	return l.ends[i-1]
}

// ID is the name of the i-th record.
func (l *Log) ID(i int) ID { return l.ids.take(l.data[l.begin(i):]) }

// Record is the i-th record. Its bytes are the log's.
func (l *Log) Record(i int) Record { return l.ids.record(l.data[l.begin(i):l.ends[i]]) }

// Place is the place of the i-th record.
func (l *Log) Place(i int) Place {
	at := l.begin(i)
	return Place{at: at, end: l.ends[i], sum: l.ids.sum(l.data[at:])}
}

// Index finds a record, newest first, or -1.
func (l *Log) Index(id ID) int {
	for i := l.Len() - 1; i >= 0; i-- {
		if l.ID(i) == id {
			return i
		}
	}
	return -1
}

// Keep forgets all records but the first n.
func (l *Log) Keep(n int) {
	l.data, l.ends = l.data[:l.begin(n)], l.ends[:n]
}

// Add appends a record.
func (l *Log) Add(r Record) {
	l.data = append(l.data, r.ID[:l.ids]...)
	l.data = binary.BigEndian.AppendUint32(l.data, uint32(len(r.Raw)))
	l.data = binary.BigEndian.AppendUint32(l.data, checksum(r.ID[:l.ids], r.Raw))
	l.data = append(l.data, r.Raw...)
	l.ends = append(l.ends, len(l.data))
}

// Find returns the indices of the records that hold one of the needles, in order.
func (l *Log) Find(needles []search.Needle) []int {
	hit := map[int]bool{}
	for _, n := range search.MergeNeedles(needles) {
		f := n.In(l.data)
		for place := f.From(len(magic)); place >= 0; place = f.From(place) {
			// A place in the head of a record is in no record: it counts as one too many.
			r := sort.SearchInts(l.ends, place+1)
			hit[r] = true
			place = l.ends[r]
		}
	}
	found := make([]int, 0, len(hit))
	for r := range hit {
		found = append(found, r)
	}
	sort.Ints(found)
	return found
}

// Write puts the log into a file.
func (l *Log) Write(path string) error { return replace(path, l.data) }
