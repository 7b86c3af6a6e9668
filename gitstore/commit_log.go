package gitstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"sort"
	"sync"

	"jp/search"
)

// A recordID names an object. Of a shorter name the rest is zero.
type recordID [sha256.Size]byte

// idLen is the length of a repository's ids in bytes, and so in its files.
type idLen int

// head is the length of the bytes before a record: id, length, checksum of id and bytes.
func (n idLen) head() int { return int(n) + 4 + 4 }

func (n idLen) take(from []byte) (id recordID) {
	copy(id[:], from[:n])
	return id
}

// sum is the checksum in the head of a record.
func (n idLen) sum(head []byte) uint32 { return binary.BigEndian.Uint32(head[n+4:]) }

// record decodes the bytes of one record.
func (n idLen) record(bytes []byte) record {
	return record{ID: n.take(bytes), Raw: bytes[n.head():]}
}

// A record is one raw commit under its id.
type record struct {
	ID  recordID
	Raw []byte
}

// A recordPlace is the offset of a record in a log, with its checksum there.
type recordPlace struct {
	at, end int // of its head and of its bytes
	sum     uint32
}

const (
	logMagic = "jp-commits 2\n"
	// maxLog is the greatest size of a log in bytes. It is more than a segment of events that jp
	// has written.
	maxLog = 64 << 20
)

// castagnoli is the table of the checksums: most commands need none.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// A commitLog is the raw commits of a segment, oldest first, as a file has them. With its [wordIndex] it spares a
// search from reading object by object.
//
// Both are only copies. Deleting them costs only time. Their content is checked: every record has a
// checksum, and before the search believes a record, it compares its id with its bytes, and checks that the
// records follow each other. A file that ends in the middle of a record, or is damaged anywhere, counts up
// to there. A file is replaced as a whole, so that several processes may read and write it at once.
type commitLog struct {
	ids  idLen
	data []byte // as they stand in the file
	ends []int  // of the records
}

// newCommitLog makes a log without records. The buffer may be nil; the log uses it, and
// [commitLog.buffer] gives it back.
func newCommitLog(buffer []byte, ids idLen) *commitLog {
	return &commitLog{ids: ids, data: append(buffer[:0], logMagic...)}
}

// readCommitLog reads a file as far as it is whole. A missing one has no records. The buffer is as for [newCommitLog].
func readCommitLog(path string, buffer []byte, ids idLen) *commitLog {
	l := &commitLog{ids: ids, data: readWhole(path, buffer[:0])}
	if !bytes.HasPrefix(l.data, []byte(logMagic)) {
		return newCommitLog(l.data, ids)
	}
	for at := len(logMagic); ; {
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
func (n idLen) whole(data []byte, at int) (end int, ok bool) {
	if len(data)-at < n.head() {
		return 0, false
	}
	begin := at + n.head()
	head := data[at:begin]
	size := int(binary.BigEndian.Uint32(head[n:]))
	if end = begin + size; size > maxLog || end > len(data) {
		return 0, false
	}
	return end, n.sum(head) == recordSum(head[:n], data[begin:end])
}

func recordSum(id, raw []byte) uint32 {
	return crc32.Update(crc32.Checksum(id, castagnoli()), castagnoli(), raw)
}

// buffer gives the log's memory back. The caller must have finished with the log.
func (l *commitLog) buffer() []byte { return l.data }

// Len is the number of records.
func (l *commitLog) Len() int { return len(l.ends) }

// Size is how many bytes the log has.
func (l *commitLog) Size() int { return l.begin(l.Len()) }

// begin is the offset of the i-th record's beginning, also of the next one to come.
func (l *commitLog) begin(i int) int {
	if i == 0 {
		return len(logMagic)
	}
	return l.ends[i-1]
}

// ID is the name of the i-th record.
func (l *commitLog) ID(i int) recordID { return l.ids.take(l.data[l.begin(i):]) }

// Record is the i-th record. Its bytes are the log's.
func (l *commitLog) Record(i int) record { return l.ids.record(l.data[l.begin(i):l.ends[i]]) }

// place is the place of the i-th record.
func (l *commitLog) place(i int) recordPlace {
	at := l.begin(i)
	return recordPlace{at: at, end: l.ends[i], sum: l.ids.sum(l.data[at:])}
}

// Index finds a record, newest first, or -1.
func (l *commitLog) Index(id recordID) int {
	for i := l.Len() - 1; i >= 0; i-- {
		if l.ID(i) == id {
			return i
		}
	}
	return -1
}

// Keep forgets all records but the first n.
func (l *commitLog) Keep(n int) {
	l.data, l.ends = l.data[:l.begin(n)], l.ends[:n]
}

// Add appends a record.
func (l *commitLog) Add(r record) {
	l.data = append(l.data, r.ID[:l.ids]...)
	l.data = binary.BigEndian.AppendUint32(l.data, uint32(len(r.Raw)))
	l.data = binary.BigEndian.AppendUint32(l.data, recordSum(r.ID[:l.ids], r.Raw))
	l.data = append(l.data, r.Raw...)
	l.ends = append(l.ends, len(l.data))
}

// Find returns the indices of the records that hold one of the needles, in order.
func (l *commitLog) Find(needles []search.Needle) []int {
	hit := map[int]bool{}
	for _, n := range search.MergeNeedles(needles) {
		f := n.In(l.data)
		for place := f.From(len(logMagic)); place >= 0; place = f.From(place) {
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
func (l *commitLog) Write(path string) error { return replaceSidecar(path, l.data) }
