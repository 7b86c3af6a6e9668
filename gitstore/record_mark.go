package gitstore

import (
	"encoding/binary"
	"iter"
)

// A recordMark describes one record: its length and its checksum, four bytes each, and a filter whose size is
// that of the record.
type recordMark struct {
	place  recordPlace
	filter textFilter
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
func appendMark(to []byte, p recordPlace, ids idLen) (marks []byte, own textFilter) {
	raw := p.end - p.at - ids.head()
	to = binary.BigEndian.AppendUint32(to, uint32(raw))
	to = binary.BigEndian.AppendUint32(to, p.sum)
	at := len(to)
	to = append(to, make([]byte, filterLen(raw))...)
	return to, to[at:]
}

// recordMarks reads the marks that appendMark has written.
func recordMarks(data []byte, ids idLen) iter.Seq[recordMark] {
	return func(yield func(recordMark) bool) {
		at := len(logMagic)
		for len(data) >= markLen {
			raw := int(binary.BigEndian.Uint32(data))
			end := markLen + filterLen(raw)
			if raw > maxLog || end > len(data) {
				return
			}
			m := recordMark{recordPlace{at, at + ids.head() + raw, binary.BigEndian.Uint32(data[4:])}, data[markLen:end]}
			if !yield(m) {
				return
			}
			at, data = m.place.end, data[end:]
		}
	}
}

// countMarks reports whether data are exactly so many marks.
func countMarks(data []byte, n int, ids idLen) bool {
	size := 0
	for m := range recordMarks(data, ids) {
		size += markLen + len(m.filter)
		n--
	}
	return n == 0 && size == len(data)
}
