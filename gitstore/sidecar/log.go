package sidecar

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"iter"
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

// inMemory is how many bytes of a log are held at most. A longer one stays in its file.
var inMemory = 4 << 20

// A Log is a file of records, oldest first, as it was when it was read.
type Log struct {
	ids  IDs
	path string
	data []byte // its content, if that is not longer than inMemory or cannot be written
	ends []int  // of the records
	large
}

// Read reads a file as far as it is whole. A missing one has no records. The
// buffer may be nil; the log uses it, and [Log.Buffer] gives it back. Close it.
func Read(path string, buffer []byte, ids IDs) *Log {
	l := &Log{ids: ids, path: path}
	if l.readLarge() {
		return l
	}
	l.data = readInto(path, buffer[:0])
	l.index()
	return l
}

// index finds the records in the data.
func (l *Log) index() {
	at := len(magic)
	if !bytes.HasPrefix(l.data, []byte(magic)) {
		l.data = l.data[:0]
		return
	}
	for {
		end, ok := l.ids.whole(l.data, at)
		if !ok {
			return
		}
		l.ends = append(l.ends, end)
		at = end
	}
}

// whole reports where the record at an offset of data ends, if it is one.
func (n IDs) whole(data []byte, at int) (end int, ok bool) {
	if len(data)-at < n.head() {
		return 0, false
	}
	begin := at + n.head()
	head := data[at:begin]
	size := int(binary.BigEndian.Uint32(head[n:]))
	if end = begin + size; size > maxRaw || end > len(data) {
		return 0, false
	}
	return end, n.sum(head) == checksum(head[:n], data[begin:end])
}

func checksum(id, raw []byte) uint32 {
	return crc32.Update(crc32.Checksum(id, castagnoli()), castagnoli(), raw)
}

// Buffer gives the log's memory back; nothing of the log may be used any more.
func (l *Log) Buffer() []byte { return l.data }

// Len is the number of records.
func (l *Log) Len() int { return len(l.ends) }

// Size is how many bytes the log has.
func (l *Log) Size() int { return l.begin(l.Len()) }

// begin is where the i-th record begins, or would begin.
func (l *Log) begin(i int) int {
	if i == 0 {
		return len(magic)
	}
	return l.ends[i-1]
}

// ID is the name of the i-th record.
func (l *Log) ID(i int) ID {
	if l.file != nil {
		return l.ids.take(l.names[i*int(l.ids):])
	}
	return l.ids.take(l.data[l.begin(i):])
}

// Record is the i-th record. Its bytes are the log's. Those of a log that stays in its file
// are nil if the file has changed.
func (l *Log) Record(i int) Record {
	if l.file == nil {
		return l.ids.record(l.data[l.begin(i):l.ends[i]])
	}
	data := make([]byte, l.ends[i]-l.begin(i))
	r, _ := l.check(i, data[:readFull(int(l.file.Fd()), data, int64(l.begin(i)))])
	return r
}

// Each gives records in order, from some on and up to others, until one wants no more. The
// bytes of a record may be used until the next one comes. ok is false if the file has changed.
func (l *Log) Each(from, to int, each func(i int, r Record) bool) (ok bool) {
	w := &window{file: l.file}
	for i := from; i < to; i++ {
		r, ok := l.check(i, l.bytesOf(w, i, i+1))
		if !ok {
			return false
		}
		if !each(i, r) {
			break
		}
	}
	return true
}

// place is where the i-th record is.
func (l *Log) place(i int) Place {
	p := Place{at: l.begin(i), end: l.ends[i]}
	if l.file != nil {
		p.sum = l.sums[i]
	} else {
		p.sum = l.ids.sum(l.data[p.at:])
	}
	return p
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

// Keep forgets all records but the first n; the next Extend writes that.
func (l *Log) Keep(n int) {
	l.ends = l.ends[:n]
	l.keep(n, l.ids)
}

// Find returns the indices of the records that hold one of the needles, in
// order. ok is false if the file of a log that stays there has changed.
func (l *Log) Find(needles []needle.Needle) (found []int, ok bool) {
	hit := map[int]bool{}
	merged := needle.Merge(needles)
	w := &window{file: l.file}
	for from := 0; from < l.Len(); {
		// As many records as a window has, one at least.
		to := l.Len()
		if l.file != nil {
			to = max(from+1, sort.SearchInts(l.ends, l.begin(from)+windowBytes))
		}
		data, at := l.bytesOf(w, from, to), l.begin(from)
		for i := from; i < to && l.file != nil; i++ {
			if len(data) < l.ends[i]-at {
				return nil, false
			}
			if _, ok := l.check(i, data[l.begin(i)-at:l.ends[i]-at]); !ok {
				return nil, false
			}
		}
		for _, n := range merged {
			f := n.In(data)
			for place := f.From(0); place >= 0; place = f.From(place) {
				// What begins in the head of a record stands in none: one too many is found.
				r := sort.SearchInts(l.ends, at+place+1)
				hit[r] = true
				place = l.ends[r] - at
			}
		}
		from = to
	}
	found = make([]int, 0, len(hit))
	for r := range hit {
		found = append(found, r)
	}
	sort.Ints(found)
	return found, true
}

// errChanged says that a log that stays in its file is not there any more as it was read.
var errChanged = errors.New("the file has changed")

// Extend makes the records [0,keep) and the ones given the content of the log
// and of its file. Where the file is not what was read any more, because another
// process extends it, only the log in memory grows.
func (l *Log) Extend(keep int, records iter.Seq[Record]) error {
	if l.file != nil {
		f, ok, err := l.openAsRead(l.size, keep)
		if ok {
			return l.extendIn(f, keep, records)
		}
		l.toMemory()
		if err != nil || l.Len() < keep {
			return errors.Join(errChanged, err)
		}
	}
	whole, was := l.begin(keep), len(l.data)
	if was == 0 {
		l.data = append(l.data, magic...)
	}
	l.data, l.ends = l.data[:whole], l.ends[:keep]
	next, stop := iter.Pull(records)
	defer stop()
	for tried := l.path == ""; ; {
		r, ok := next()
		if !ok {
			return l.write(was, whole, keep)
		}
		l.data = r.appendTo(l.data, l.ids)
		l.ends = append(l.ends, len(l.data))
		if len(l.data) <= inMemory || tried {
			continue
		}
		tried = true
		if err := l.write(was, whole, keep); err != nil {
			continue // all of it is held then
		}
		if f, ok, _ := l.openAsRead(len(l.data), l.Len()); ok {
			l.toFile(f)
			return l.extendIn(f, l.Len(), func(yield func(Record) bool) {
				for r, ok := next(); ok && yield(r); r, ok = next() {
				}
			})
		}
	}
}

// appendTo appends a record as it stands in a log.
func (r Record) appendTo(data []byte, ids IDs) []byte {
	data = append(data, r.ID[:ids]...)
	data = binary.BigEndian.AppendUint32(data, uint32(len(r.Raw)))
	data = binary.BigEndian.AppendUint32(data, checksum(r.ID[:ids], r.Raw))
	return append(data, r.Raw...)
}

// write brings the file up to the data, of which it has the first whole bytes.
func (l *Log) write(was, whole, keep int) error {
	switch {
	case l.path == "":
		return nil
	case was == 0:
		return replace(l.path, l.data)
	}
	f, ok, err := l.openAsRead(was, keep)
	if !ok {
		return err
	}
	defer f.Close()
	if err := f.Truncate(int64(whole)); err != nil {
		return err
	}
	_, err = f.WriteAt(l.data[whole:], int64(whole))
	return err
}

// Detach leaves the file as it is from now on: only the log in memory grows.
func (l *Log) Detach() {
	l.toMemory()
	l.path = ""
}

// openAsRead opens the file to extend it, and takes it for this process. It is ok if the file
// is as long as it was and has the last of the records that are kept.
func (l *Log) openAsRead(was, keep int) (f *os.File, ok bool, err error) {
	f, err = os.OpenFile(l.path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if !ok {
			f.Close()
		}
	}()
	if !lock(f) {
		return nil, false, nil
	}
	info, err := f.Stat()
	if err != nil || info.Size() != int64(was) {
		return nil, false, err
	}
	if keep > 0 {
		want := l.place(keep - 1)
		head := make([]byte, l.ids.head())
		if _, err := f.ReadAt(head, int64(want.at)); err != nil || l.ids.take(head) != l.ID(keep-1) ||
			int(binary.BigEndian.Uint32(head[l.ids:])) != want.end-want.at-len(head) || l.ids.sum(head) != want.sum {
			return nil, false, err
		}
	}
	return f, true, nil
}
