package sidecar

import (
	"encoding/binary"
	"iter"
)

// A mark describes one record: its length and its checksum, four bytes each, and a filter whose size is
// that of the record.
type mark struct {
	Place
	filter filter
}

const markLen = 4 + 4

// Of these sizes a fifth of the bits is set in the filter of a record, as a rule. So
// of the records that have all runs of a text but one, four in five are left out.
const (
	bytesPerFilter = 6 // bytes of a record for each of its filter
	minFilter      = 16
	maxFilter      = 1 << 15
)

func filterLen(raw int) int { return min(max(raw/bytesPerFilter, minFilter), maxFilter) }

// appendMark adds a record with an empty filter, which is to be filled at once.
func appendMark(to []byte, p Place, ids IDs) (marks []byte, own filter) {
	raw := p.end - p.at - ids.head()
	to = binary.BigEndian.AppendUint32(to, uint32(raw))
	to = binary.BigEndian.AppendUint32(to, p.sum)
	at := len(to)
	to = append(to, make([]byte, filterLen(raw))...)
	return to, to[at:]
}

// marks reads the marks that appendMark has written.
func marks(data []byte, ids IDs) iter.Seq[mark] {
	return func(yield func(mark) bool) {
		at := len(magic)
		for len(data) >= markLen {
			raw := int(binary.BigEndian.Uint32(data))
			end := markLen + filterLen(raw)
			if raw > MaxLog || end > len(data) {
				return
			}
			m := mark{Place{at, at + ids.head() + raw, binary.BigEndian.Uint32(data[4:])}, data[markLen:end]}
			if !yield(m) {
				return
			}
			at, data = m.end, data[end:]
		}
	}
}

// countMarks reports whether data are exactly so many marks.
func countMarks(data []byte, n int, ids IDs) bool {
	size := 0
	for m := range marks(data, ids) {
		size += markLen + len(m.filter)
		n--
	}
	return n == 0 && size == len(data)
}
