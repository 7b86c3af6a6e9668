package gitstore

import (
	"bytes"
	"slices"

	"jp/gitstore/odb"
)

// excludes reports whether no event of a conversation can match. Of the others it keeps its findings for
// the Scan that follows, and returns the newest event if it has read that.
func (f *finder) excludes(head odb.OID) (none bool, newest *tip) {
	defer f.free()
	aside := false
	for c, ok := newestOf(head), true; ok; {
		in, looked := f.lookOnce(c)
		switch {
		case !looked:
			return false, nil
		case in.passes && c.newest():
			return false, f.tip(head)
		case in.passes:
			return false, nil
		case c.newest():
			aside = slices.ContainsFunc(f.findings.filter.Any, f.words.mayAside)
		}
		c, ok = in.below()
	}
	if !aside {
		f.findings.drop(f.newestPath)
	}
	return !aside, nil
}

// lookOnce looks at a segment's words, unless the search of another fork has.
func (f *finder) lookOnce(c segmentEnd) (in contents, ok bool) {
	s := f.findings.segment(f.path(c))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known(c) && !c.newest() {
		return s.contents, true
	}
	records, ok := f.look(s, c)
	if ok {
		f.findings.keep(s, records)
	}
	return s.contents, ok
}

// tip is a head whose record was read, nil if the record does not sum up the conversation.
func (f *finder) tip(head odb.OID) *tip {
	if t := f.all.tips.known(head); t != nil {
		return t
	}
	if f.newest.Raw == nil || f.newest.ID != idOf(head) {
		return nil
	}
	l, err := f.decode(record{ID: f.newest.ID, Raw: bytes.Clone(f.newest.Raw)})
	if err != nil {
		return nil
	}
	return l.tip()
}
