package powercut

import "slices"

// SectorSize is the size of the part that a disk writes as a whole, in bytes.
const SectorSize = 512

// A Log has the calls to a disk since recording began, in its order. Positions count its entries: position
// n is after the first n of them.
type Log struct {
	entries []entry
}

// An entry is a write if it has data, a mark if it has a text, else a flush.
type entry struct {
	data   []byte
	offset int64
	mark   string
}

func (e entry) isFlush() bool { return e.data == nil && e.mark == "" }

// A Mark is a report by the program under test, with the position behind it.
type Mark struct {
	Text string
	At   int
}

func (l *Log) write(data []byte, offset int64) {
	if len(data) > 0 {
		l.entries = append(l.entries, entry{data: slices.Clone(data), offset: offset})
	}
}

func (l *Log) flush() { l.entries = append(l.entries, entry{}) }

func (l *Log) mark(text string) { l.entries = append(l.entries, entry{mark: text}) }

// Len is the last position.
func (l *Log) Len() int { return len(l.entries) }

// Marks are all marks, in their order.
func (l *Log) Marks() []Mark {
	var marks []Mark
	for i, e := range l.entries {
		if e.mark != "" {
			marks = append(marks, Mark{Text: e.mark, At: i + 1})
		}
	}
	return marks
}

// Counts are how many writes and flushes there are, and the bytes of the writes.
func (l *Log) Counts() (writes, flushes int, bytes int64) {
	for _, e := range l.entries {
		switch {
		case e.data != nil:
			writes, bytes = writes+1, bytes+int64(len(e.data))
		case e.isFlush():
			flushes++
		}
	}
	return writes, flushes, bytes
}

// flushed is how many entries are durable at a position: those up to the last
// flush before it.
func (l *Log) flushed(at int) int {
	for ; at > 0; at-- {
		if l.entries[at-1].isFlush() {
			return at
		}
	}
	return 0
}
