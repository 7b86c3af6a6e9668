package gitstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/gitstore/sidecar"
	"jp/search/needle"
)

// A cached is the sidecar of one conversation while it is used.
type cached struct {
	all     *sidecars
	path    string
	title   string
	buffers                // what is read of the files stands in them
	log     *sidecar.Log   // all of it, where that was needed
	words   *sidecar.Words // nil where there are none
	newest  sidecar.Record // the head's, where looking for something has read it, too
}

// buffers are for the files of one search at a time.
type buffers struct {
	filters []byte // of the words
	buffer  []byte // of the rest
}

var freeBuffers sync.Pool

// free is for when nothing that was read is used any more.
func (c *cached) free() {
	if c.log != nil {
		c.buffer = c.log.Buffer()
		c.log.Close()
	}
	kept := c.buffers
	freeBuffers.Put(&kept)
}

// scan decodes what the prefilter passes.
func (c *cached) scan(ctx context.Context, head odb.OID, filter conversation.Prefilter) ([]*conversation.Event, error) {
	defer c.free()
	records, own, ok := c.recall(head, filter)
	if !ok {
		_, records, ok = c.look(head, filter)
	}
	if !ok {
		var err error
		if records, err = c.find(ctx, head, filter); err != nil {
			return nil, err
		}
	}
	var events []*conversation.Event
	for _, r := range records {
		if !own {
			r.Raw = bytes.Clone(r.Raw)
		}
		l, err := c.event(ctx, r)
		if err == nil {
			err = c.fillOutput(ctx, l.event, filter)
		}
		if err != nil {
			return nil, err
		}
		events = append(events, l.event)
	}
	return events, ctx.Err()
}

// look finds what passes without reading the rest. ok is false where the words do not
// reach up to the head, or what they say is not there.
func (c *cached) look(head odb.OID, filter conversation.Prefilter) (places []sidecar.Place, records []sidecar.Record, ok bool) {
	c.words, c.filters, _ = sidecar.ReadWords(c.path+wordsSuffix, c.filters, c.all.ids)
	if c.words == nil || c.words.Head != idOf(head) || len(filter.Any) == 0 {
		return nil, nil, false
	}
	texts := slices.Clone(filter.Any)
	if c.words.Text {
		texts = append(texts, elsewhere)
	}
	if !slices.ContainsFunc(texts, c.words.May) {
		return nil, nil, true
	}
	if places, c.buffer, ok = c.words.Where(c.path+wordsSuffix, append(texts, discarded), c.buffer); !ok {
		c.words.Marked = false // they are made again
		return nil, nil, false
	}
	if records, c.buffer, ok = sidecar.Pick(c.path+logSuffix, places, c.buffer, c.all.ids); !ok {
		return nil, nil, false
	}
	if len(records) > 0 {
		c.newest = records[len(records)-1]
	}
	n := 0
	for _, i := range passing(records, c.needles(filter)) {
		places[n], records[n] = places[i], records[i]
		n++
	}
	return places[:n], records[:n], true
}

// find brings the sidecar up to the head, and looks through all of it.
func (c *cached) find(ctx context.Context, head odb.OID, filter conversation.Prefilter) (found []sidecar.Record, err error) {
	c.log = sidecar.Read(c.path+logSuffix, c.buffer, c.all.ids)
	newest, err := c.update(ctx, head)
	if err != nil {
		return nil, err
	}
	needles := c.needles(filter)
	var records []sidecar.Record
	indices, ok := c.indices(needles)
	if !ok {
		return nil, errNotCached
	}
	for _, i := range indices {
		if i <= newest {
			records = append(records, c.log.Record(i))
		}
	}
	for _, i := range passing(records, needles) {
		found = append(found, records[i])
	}
	return found, nil
}

// indices are of the records that may pass.
func (c *cached) indices(needles []needle.Needle) (found []int, ok bool) {
	if len(needles) == 0 {
		all := make([]int, c.log.Len())
		for i := range all {
			all[i] = i
		}
		return all, true
	}
	if found, ok = c.log.Find(needles); ok && len(found) > 0 && (c.words == nil || c.words.May(discarded)) {
		var discards []int
		discards, ok = c.log.Find([]needle.Needle{takesBack})
		found = append(found, discards...)
		slices.Sort(found)
	}
	return slices.Compact(found), ok
}

// event decodes a record, whose bytes become the event's.
func (c *cached) event(ctx context.Context, r sidecar.Record) (*parsedCommit, error) {
	l, err := c.decode(r)
	if err != nil {
		return nil, err
	}
	return l, c.all.commits.fill(l.event)
}

// fillOutput replaces the shortened output of a tool by its whole output, if the prefilter
// finds its text there.
func (c *cached) fillOutput(ctx context.Context, e *conversation.Event, filter conversation.Prefilter) error {
	p := e.Payload(conversation.PayloadOutput)
	if _, is := e.Body.(*conversation.ToolCallResponse); !is || p == nil {
		return nil
	}
	data, here, err := c.all.commits.payload(*p)
	if err != nil || !here {
		return err
	}
	if len(filter.Any) == 0 || slices.ContainsFunc(filter.Any, func(text string) bool { return needle.New(text, filter.Fold).Index(data) >= 0 }) {
		e.SetText(string(data))
	}
	return nil
}

// decode is event without its payload. A record whose bytes differ from its id is an
// error.
func (c *cached) decode(r sidecar.Record) (*parsedCommit, error) {
	oid := odb.OID(hex.EncodeToString(r.ID[:c.all.ids]))
	if odb.HashObject(c.all.commits.format, "commit", r.Raw) != oid {
		return nil, fmt.Errorf("%w: the sidecar's %.10s", conversation.ErrDamaged, oid)
	}
	return c.all.commits.parse(stored{oid: oid, kind: "commit", object: r.Raw})
}

// A stored event with one of these texts passes every prefilter: its text is in a payload,
// or it discards other events.
const (
	elsewhere = `"name":"` + conversation.PayloadText // and PayloadOutput, which begins alike
	discarded = string(conversation.TypeTurnDiscarded)
)

var (
	textElsewhere = needle.New(elsewhere, false)
	takesBack     = needle.New(discarded, false)
)

// needles are what one of has to stand in an event; none for a prefilter that passes
// everything.
func (c *cached) needles(filter conversation.Prefilter) []needle.Needle {
	var needles []needle.Needle
	for _, text := range filter.Any {
		needles = append(needles, needle.New(text, filter.Fold))
	}
	if len(needles) > 0 && (c.words == nil || c.words.Text) {
		needles = append(needles, textElsewhere)
	}
	return needles
}

// passing are the indices of the records in which a needle stands, and where there
// is one, of those that take others back.
func passing(records []sidecar.Record, needles []needle.Needle) (found []int) {
	one := false
	for i, r := range records {
		hit := len(needles) == 0 || stands(needles, r.Raw)
		if one = one || hit; hit || stands([]needle.Needle{takesBack}, r.Raw) {
			found = append(found, i)
		}
	}
	if !one {
		return nil
	}
	return found
}

// stands reports whether a needle stands in what an event says, not only in
// what its commit says of the whole conversation.
func stands(needles []needle.Needle, raw []byte) bool {
	if !slices.ContainsFunc(needles, func(n needle.Needle) bool { return n.Index(raw) >= 0 }) {
		return false
	}
	c, err := parseCommit(raw)
	return err != nil || slices.ContainsFunc(needles, func(n needle.Needle) bool { // decoding it says what is wrong
		return n.Index(c.message) >= 0 || n.Index(c.data) >= 0
	})
}

func idOf(oid odb.OID) (id sidecar.ID) {
	_, _ = hex.Decode(id[:], []byte(oid)) // it was parsed
	return id
}
