package gitstore

import "golang.org/x/sys/unix"

// maxSpanGap is the greatest distance of two records that are read at once.
const maxSpanGap = 8 << 10

// pickRecords reads only the records at some places of a file, which are in order. ok is false if one has changed
// or is gone. The buffer may be nil; the records use it, and it comes back.
func pickRecords(path string, places []recordPlace, buffer []byte, ids idLen) (records []record, used []byte, ok bool) {
	if len(places) == 0 {
		return nil, buffer, true
	}
	fd, size, ok := openSidecar(path)
	if !ok {
		return nil, buffer, false
	}
	defer unix.Close(fd)
	spans, all := spansOf(places)
	if int64(spans[len(spans)-1].end) > size {
		return nil, buffer, false
	}
	if cap(buffer) < all {
		buffer = make([]byte, all)
	}
	buffer = buffer[:all]
	rest := buffer
	for _, s := range spans {
		part := rest[:s.end-s.at]
		if readFull(fd, part, int64(s.at)) < len(part) {
			return nil, buffer, false
		}
		for ; len(places) > 0 && places[0].end <= s.end; places = places[1:] {
			r, ok := places[0].recordIn(part, s.at, ids)
			if !ok {
				return nil, buffer, false
			}
			records = append(records, r)
		}
		rest = rest[len(part):]
	}
	return records, buffer, true
}

// recordIn is the record of a place, if it is the one that stood there, in a part of
// the file that begins at an offset.
func (p recordPlace) recordIn(part []byte, from int, ids idLen) (r record, ok bool) {
	bytes := part[p.at-from : p.end-from]
	r = ids.record(bytes)
	return r, p.sum == ids.sum(bytes) && p.sum == recordSum(r.ID[:ids], r.Raw)
}

// A readSpan is read at once.
type readSpan struct{ at, end int }

// spansOf are the spans of some places, and their total length.
func spansOf(places []recordPlace) (spans []readSpan, all int) {
	for _, p := range places {
		if last := len(spans) - 1; last >= 0 && p.at-spans[last].end <= maxSpanGap {
			all += p.end - spans[last].end
			spans[last].end = p.end
			continue
		}
		spans = append(spans, readSpan{p.at, p.end})
		all += p.end - p.at
	}
	return spans, all
}
