package gitstore

import (
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"jp/conversation"
	"jp/gitstore/odb"
)

// A segment is the search state of some consecutive events of a conversation: segmentEvents of them, from a
// multiple of that on, or the newest ones behind the last of those, which are one at least.
//
// A commit fixes all commits before it. So all but the newest segment are named by their newest event:
// forks share their files and their search results.
type segment struct {
	mu     sync.Mutex
	end    recordID // its newest event, if the rest is known
	scans  int      // how often a search came to it
	places []recordPlace
	kept   []record // the records themselves, if they are few; else nil
	events []*conversation.Event
	contents
}

// segmentEvents is how many events a segment has. A fork repeats fewer than that in files of
// its own, and a search opens two files for so many.
var segmentEvents = 256

// An origin is the place at which a segment begins.
type origin struct {
	first  int      // the number of its oldest event
	before recordID // the event before that
}

var noEvent recordID

// originOf leaves out the commit below the first event, since it is not an event.
func originOf(first int, before odb.OID) origin {
	if first == 0 {
		before = ""
	}
	return origin{first, idOf(before)}
}

// A segmentEnd names a segment by its end.
type segmentEnd struct {
	end   recordID // its newest event
	first int      // the number of its oldest event; -1 (unknown) for the newest segment
}

func newestOf(head odb.OID) segmentEnd { return segmentEnd{idOf(head), -1} }

func (c segmentEnd) newest() bool { return c.first < 0 }

// begins reports whether a segment that ends there may begin here.
func (c segmentEnd) begins(at origin) bool {
	return at.first%segmentEvents == 0 && (at.first == 0) == (at.before == noEvent) && (c.newest() || at.first == c.first)
}

// below is the segment before one that begins here; ok is false if there is none.
func (at origin) below() (c segmentEnd, ok bool) {
	return segmentEnd{at.before, at.first - segmentEvents}, at.before != noEvent
}

// path is the path of a segment's files, without the suffix.
func (f *finder) path(c segmentEnd) string {
	if c.newest() {
		return f.newestPath
	}
	return filepath.Join(f.all.dir, string(oidOf(c.end, f.all.ids)))
}

// contents are the findings of a search in a segment.
type contents struct {
	origin
	passes bool // some event passes, for more than discarding others
}

// known reports whether the segment that ends there has been looked through.
func (s *segment) known(c segmentEnd) bool { return s.end == c.end }

func (s *segment) set(c segmentEnd, in contents, places []recordPlace) {
	s.end, s.contents, s.places, s.kept = c.end, in, places, nil
}

// findings are those of a search in segments, until the next search begins.
type findings struct {
	filter   conversation.Prefilter
	mu       sync.Mutex
	segments map[string]*segment // by the path of their files
	bytes    atomic.Int64        // of the records that are kept
}

func newFindings(filter conversation.Prefilter) *findings {
	return &findings{filter: filter, segments: map[string]*segment{}}
}

// findingsFor are those of the search that Candidates has begun, if it has this prefilter, or new ones.
func (s *sidecars) findingsFor(filter conversation.Prefilter) *findings {
	if begun := s.findings.Load(); begun != nil && begun.filter.Fold == filter.Fold && slices.Equal(begun.filter.Any, filter.Any) {
		return begun
	}
	return newFindings(filter)
}

func (r *findings) segment(path string) *segment {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.segments[path]
	if s == nil {
		s = &segment{}
		r.segments[path] = s
	}
	return s
}

// drop forgets a segment that only one conversation has.
func (r *findings) drop(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.segments[path]; s != nil && s.kept != nil {
		r.bytes.Add(-bytesOf(s.kept))
	}
	delete(r.segments, path)
}

// How many bytes of records are kept between a Candidates and its Scans, of one
// segment and of all.
const (
	mostKept    = 64 << 10
	mostKeptAll = 16 << 20
)

// claim reports whether a segment's records, or the values made of them, may be kept.
func (r *findings) claim(s *segment, records []record, most int64) bool {
	n := bytesOf(records)
	switch {
	case s.kept != nil:
		return true
	case n > most:
		return false
	case r.bytes.Add(n) > mostKeptAll:
		r.bytes.Add(-n)
		return false
	}
	return true
}

// keep keeps records, unless they are too large.
func (r *findings) keep(s *segment, records []record) {
	if !r.claim(s, records, mostKept) {
		return
	}
	s.kept = make([]record, len(records))
	room := make([]byte, 0, bytesOf(records))
	for i, rec := range records {
		from := len(room)
		room = append(room, rec.Raw...)
		s.kept[i] = record{ID: rec.ID, Raw: room[from:len(room):len(room)]}
	}
}

func bytesOf(records []record) (n int64) {
	for _, r := range records {
		n += int64(len(r.Raw))
	}
	return n
}
