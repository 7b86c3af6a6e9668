package sidecar

import (
	"bufio"
	"encoding/binary"
	"io"
	"iter"
	"os"

	"golang.org/x/sys/unix"
)

// large is what is held of a log that stays in its file. It is empty for others.
type large struct {
	file  *os.File
	names []byte   // of the records
	sums  []uint32 // of the records
	size  int      // of the file
}

// windowBytes is how much of a file is read at once.
const windowBytes = 1 << 20

// A window is the part of a file that was read last.
type window struct {
	file *os.File
	from int
	data []byte
}

// bytes are those of the file between two offsets, fewer if it ends before.
func (w *window) bytes(at, end int) []byte {
	if at < w.from || end > w.from+len(w.data) {
		n := max(end-at, windowBytes)
		if cap(w.data) < n {
			w.data = make([]byte, n)
		}
		w.from, w.data = at, w.data[:n]
		w.data = w.data[:readFull(int(w.file.Fd()), w.data, int64(at))]
	}
	return w.data[min(at-w.from, len(w.data)):min(end-w.from, len(w.data))]
}

// readLarge reads the file if it is too long to be held.
func (l *Log) readLarge() bool {
	fd, size, ok := open(l.path)
	if !ok {
		return false
	}
	if size <= int64(inMemory) || size > maxFile {
		unix.Close(fd)
		return false
	}
	l.file, l.size = os.NewFile(uintptr(fd), l.path), int(size)
	w := &window{file: l.file}
	at := len(magic)
	if string(w.bytes(0, at)) != magic {
		l.Close()
		l.large = large{}
		return true
	}
	for {
		head := w.bytes(at, at+l.ids.head())
		if len(head) < l.ids.head() {
			return true
		}
		n := int(binary.BigEndian.Uint32(head[l.ids:]))
		if n > maxRaw {
			return true
		}
		bytes := w.bytes(at, at+l.ids.head()+n)
		if _, ok := l.ids.whole(bytes, 0); !ok {
			return true
		}
		at += len(bytes)
		l.enter(bytes, at)
	}
}

// enter notes a record by its bytes, and where it ends.
func (l *Log) enter(bytes []byte, end int) {
	l.names = append(l.names, bytes[:l.ids]...)
	l.sums = append(l.sums, l.ids.sum(bytes))
	l.ends = append(l.ends, end)
}

func (l *large) keep(n int, ids IDs) {
	if l.file != nil {
		l.names, l.sums = l.names[:n*int(ids)], l.sums[:n]
	}
}

// bytesOf are those of some records, fewer if the file has changed.
func (l *Log) bytesOf(w *window, from, to int) []byte {
	if l.file == nil {
		return l.data[l.begin(from):l.ends[to-1]]
	}
	return w.bytes(l.begin(from), l.ends[to-1])
}

// check is the i-th record in its bytes, if they are what they were.
func (l *Log) check(i int, data []byte) (Record, bool) {
	if l.file == nil {
		return l.ids.record(data), true
	}
	end, ok := l.ids.whole(data, 0)
	if !ok || end != l.ends[i]-l.begin(i) || end != len(data) || l.ids.sum(data) != l.sums[i] || l.ids.take(data) != l.ID(i) {
		return Record{}, false
	}
	return l.ids.record(data), true
}

// toFile leaves in an open file what it has of the log.
func (l *Log) toFile(f *os.File) {
	data, ends, at := l.data, l.ends, len(magic)
	l.ends, l.data, l.file, l.size = nil, nil, f, len(data)
	for _, end := range ends {
		l.enter(data[at:end], end)
		at = end
	}
}

// toMemory reads all of a log that stays in its file, as far as that is what it was.
func (l *Log) toMemory() {
	if l.file == nil {
		return
	}
	data := make([]byte, l.Size())
	data = data[:readFull(int(l.file.Fd()), data, 0)]
	l.Close()
	names := l.names
	l.large, l.ends, l.data = large{}, nil, data
	l.index()
	for i := range l.ends {
		if l.ID(i) != l.ids.take(names[i*int(l.ids):]) {
			l.ends = l.ends[:i]
			return
		}
	}
}

// extendIn is Extend for a log that stays in its file, which is open for that and this
// process's alone.
func (l *Log) extendIn(f *os.File, keep int, records iter.Seq[Record]) error {
	if l.file != f {
		l.Close()
	}
	l.Keep(keep)
	l.file, l.size = f, l.Size()
	defer unix.Flock(int(f.Fd()), unix.LOCK_UN) // it is open for reading from now on
	if err := f.Truncate(int64(l.size)); err != nil {
		return err
	}
	if _, err := f.Seek(int64(l.size), io.SeekStart); err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, windowBytes)
	var bytes []byte
	for r := range records {
		bytes = r.appendTo(bytes[:0], l.ids)
		if _, err := out.Write(bytes); err != nil {
			return err
		}
		l.size += len(bytes)
		l.enter(bytes, l.size)
	}
	return out.Flush()
}

// Close ends the reading of a log.
func (l *Log) Close() {
	if l.file != nil {
		_ = l.file.Close() // what was written has been flushed
	}
}
