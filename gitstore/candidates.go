package gitstore

import (
	"bytes"
	"slices"
	"sync/atomic"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/gitstore/sidecar"
)

// excludes reports whether nothing of a conversation can be of interest. Of the others
// it keeps for the Scan that follows what has been found, and gives the newest event if
// that has been read.
func (c *cached) excludes(head odb.OID, filter conversation.Prefilter) (none bool, newest *tip) {
	defer c.free()
	places, records, ok := c.look(head, filter)
	if !ok {
		return false, nil
	}
	if len(places) == 0 && !slices.ContainsFunc(filter.Any, c.words.MayAside) {
		return true, nil
	}
	f := &found{head: head, filter: filter, places: places}
	f.keep(records, &c.all.keptBytes)
	c.all.found.Store(c.path, f)
	return false, c.tip(head)
}

// tip is a head of which a record was read, nil where what it says of the whole is not
// enough.
func (c *cached) tip(head odb.OID) *tip {
	if t := c.all.tips.known(head); t != nil {
		return t
	}
	if c.newest.Raw == nil || c.newest.ID != idOf(head) {
		return nil
	}
	l, err := c.decode(sidecar.Record{ID: c.newest.ID, Raw: bytes.Clone(c.newest.Raw)})
	if err != nil {
		return nil
	}
	return l.tip()
}

// found are the records of a conversation that a prefilter passes.
type found struct {
	head   odb.OID
	filter conversation.Prefilter
	places []sidecar.Place
	kept   []sidecar.Record // they themselves, where that is little; nil else
	bytes  int64            // of those
}

// How many bytes of records are kept between a Candidates and its Sifts, of one
// conversation and of all.
const (
	mostKept    = 64 << 10
	mostKeptAll = 16 << 20
)

// keep keeps records, unless they are too large for all that are kept.
func (f *found) keep(records []sidecar.Record, all *atomic.Int64) {
	for _, r := range records {
		f.bytes += int64(len(r.Raw))
	}
	if f.bytes > mostKept {
		return
	}
	if all.Add(f.bytes) > mostKeptAll {
		all.Add(-f.bytes)
		return
	}
	f.kept = make([]sidecar.Record, len(records))
	room := make([]byte, 0, f.bytes)
	for i, r := range records {
		from := len(room)
		room = append(room, r.Raw...)
		f.kept[i] = sidecar.Record{ID: r.ID, Raw: room[from:len(room):len(room)]}
	}
}

// recall gives the records that were found for the same prefilter, once. It reads them again
// where they were not kept; own says that no other part has their bytes.
func (c *cached) recall(head odb.OID, filter conversation.Prefilter) (records []sidecar.Record, own, ok bool) {
	kept, ok := c.all.found.LoadAndDelete(c.path)
	if !ok {
		return nil, false, false
	}
	f := kept.(*found)
	if f.head != head || f.filter.Fold != filter.Fold || !slices.Equal(f.filter.Any, filter.Any) {
		return nil, false, false
	}
	if f.kept != nil {
		c.all.keptBytes.Add(-f.bytes)
		return f.kept, true, true
	}
	records, c.buffer, ok = sidecar.Pick(c.path+logSuffix, f.places, c.buffer, c.all.ids)
	return records, false, ok
}
