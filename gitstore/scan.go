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
	"jp/search"
)

// A finder looks for something in one conversation, segment by segment, newest first.
type finder struct {
	all        *sidecars
	findings   *findings
	newestPath string // path of the files of the newest segment
	title      string
	buffers
	words  *wordIndex // of the segment at hand, nil if there are none
	newest record     // the head's, if the search has read it, too
	was    recordID   // the event before the newest segment of an earlier search
}

// buffers are for the files of one search at a time.
type buffers struct {
	filters []byte // of the words
	buffer  []byte // of the rest
}

var freeBuffers sync.Pool

// free releases the memory of all records that were read. The caller no longer uses any of them.
func (f *finder) free() {
	kept := f.buffers
	freeBuffers.Put(&kept)
}

// scan decodes the events that pass the prefilter.
func (f *finder) scan(ctx context.Context, head odb.OID) ([]*conversation.Event, error) {
	defer f.free()
	defer f.evict()
	var found [][]*conversation.Event // newest segment first
	some, left := false, true
	for c, ok := newestOf(head), true; ok; {
		events, in, err := f.eventsOf(ctx, c)
		if err != nil {
			return nil, err
		}
		found, some, left = append(found, events), some || in.passes, left && f.was != c.end
		c, ok = in.below()
	}
	if left && f.was != noEvent {
		f.ignore(f.all.sweep())
	}
	if !some {
		return nil, ctx.Err()
	}
	slices.Reverse(found)
	return slices.Concat(found...), ctx.Err()
}

// eventsOf are the events of a segment that the prefilter passes, and discards. Those of a
// segment that a search comes to again are kept.
func (f *finder) eventsOf(ctx context.Context, c segmentEnd) ([]*conversation.Event, contents, error) {
	s := f.findings.segment(f.path(c))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scans++; s.events != nil {
		return s.events, s.contents, nil
	}
	records, own, err := f.records(ctx, s, c)
	if err != nil {
		return nil, s.contents, err
	}
	events := make([]*conversation.Event, 0, len(records))
	for _, r := range records {
		if !own {
			r.Raw = bytes.Clone(r.Raw)
		}
		l, err := f.event(ctx, r)
		if err == nil {
			err = f.fillOutput(ctx, l.event)
		}
		if err != nil {
			return nil, s.contents, err
		}
		if reduce := f.findings.filter.Reduce; reduce != nil {
			reduce(l.event)
		}
		events = append(events, l.event)
	}
	switch {
	case c.newest():
		f.findings.drop(f.newestPath)
	case s.scans > 1 && f.findings.claim(s, records, mostKeptAll):
		s.events, s.kept = events, nil
	}
	return events, s.contents, nil
}

// records are the search's records of a segment. own says that no other part has their bytes.
func (f *finder) records(ctx context.Context, s *segment, c segmentEnd) (records []record, own bool, err error) {
	if s.known(c) {
		if s.kept != nil || len(s.places) == 0 {
			return s.kept, true, nil
		}
		var ok bool
		if records, ok = f.pick(c, s.places); ok {
			return records, false, nil
		}
	}
	records, ok := f.look(s, c)
	if !ok {
		records, err = f.find(ctx, s, c)
	}
	return records, false, err
}

// look finds the passing records of a segment without reading the rest of it. ok is false if the words are
// of another segment, or a record that they name is missing.
func (f *finder) look(s *segment, c segmentEnd) (records []record, ok bool) {
	path, texts := f.path(c), f.findings.filter.Any
	f.words, f.filters, _ = readWordIndex(path+wordsSuffix, f.filters, f.all.ids, f.all.seal())
	w := f.words
	if w != nil && c.newest() {
		f.was = w.Before
	}
	if w == nil || w.Head != c.end || !c.begins(origin{w.First, w.Before}) || len(texts) == 0 {
		return nil, false
	}
	texts = slices.Clone(texts)
	if w.Text {
		texts = append(texts, elsewhere)
	}
	if !slices.ContainsFunc(texts, w.may) {
		texts = nil
	}
	// The events found in another segment may be discarded here.
	if w.Discards && (texts != nil || !c.newest() || w.First > 0) {
		texts = append(texts, discarded)
	}
	var places []recordPlace
	if texts != nil {
		if places, f.buffer, ok = w.where(path+wordsSuffix, texts, f.buffer); !ok {
			w.Marked = false // they are made again
			return nil, false
		}
		if records, ok = f.pick(c, places); !ok {
			return nil, false
		}
	}
	if len(records) > 0 && c.newest() {
		f.newest = records[len(records)-1]
	}
	found, passes := passing(records, f.needles())
	for n, i := range found {
		places[n], records[n] = places[i], records[i]
	}
	s.set(c, contents{origin{w.First, w.Before}, passes}, places[:len(found)])
	return records[:len(found)], true
}

// pick reads records of a segment's log. ok is false if one is missing, or its bytes do not have its id.
func (f *finder) pick(c segmentEnd, places []recordPlace) (records []record, ok bool) {
	records, f.buffer, ok = pickRecords(f.path(c)+logSuffix, places, f.buffer, f.all.ids)
	return records, ok && !slices.ContainsFunc(records, f.forged)
}

// forged reports whether a record has other bytes than its id says.
func (f *finder) forged(r record) bool {
	return odb.HashObject(f.all.commits.format, "commit", r.Raw) != oidOf(r.ID, f.all.ids)
}

// find brings a segment's files up to its end, and looks through all of it.
func (f *finder) find(ctx context.Context, s *segment, c segmentEnd) (found []record, err error) {
	log, at, err := f.update(ctx, c)
	if err != nil {
		return nil, err
	}
	f.buffer = log.buffer()
	needles := f.needles()
	var records []record
	var indices []int
	newest := log.Index(c.end)
	for _, i := range f.indices(log, needles) {
		if i <= newest {
			indices, records = append(indices, i), append(records, log.Record(i))
		}
	}
	var places []recordPlace
	passed, passes := passing(records, needles)
	for _, i := range passed {
		found, places = append(found, records[i]), append(places, log.place(indices[i]))
	}
	s.set(c, contents{at, passes}, places)
	return found, nil
}

// indices are of the records that may pass.
func (f *finder) indices(log *commitLog, needles []search.Needle) []int {
	if len(needles) == 0 {
		all := make([]int, log.Len())
		for i := range all {
			all[i] = i
		}
		return all
	}
	if f.words == nil || f.words.Discards {
		needles = append(slices.Clone(needles), takesBack)
	}
	return log.Find(needles)
}

// event decodes a record, whose bytes become the event's.
func (f *finder) event(ctx context.Context, r record) (*parsedCommit, error) {
	l, err := f.decode(r)
	if err != nil {
		return nil, err
	}
	return l, f.all.commits.fill(l.event)
}

// fillOutput replaces the shortened output of a tool by its whole output, if the prefilter
// finds its text there.
func (f *finder) fillOutput(ctx context.Context, e *conversation.Event) error {
	p := e.Payload(conversation.PayloadOutput)
	if _, is := e.Body.(*conversation.ToolCallResponse); !is || p == nil {
		return nil
	}
	data, here, err := f.all.commits.payload(*p)
	if err != nil || !here {
		return err
	}
	filter := f.findings.filter
	if len(filter.Any) == 0 || slices.ContainsFunc(filter.Any, func(text string) bool { return search.NewNeedle(text, filter.Fold).Index(data) >= 0 }) {
		e.SetText(string(data))
	}
	return nil
}

// decode is event without its payload. A record whose bytes differ from its id is an
// error.
func (f *finder) decode(r record) (*parsedCommit, error) {
	oid := oidOf(r.ID, f.all.ids)
	if f.forged(r) {
		return nil, fmt.Errorf("%w: the sidecar's %.10s", conversation.ErrDamaged, oid)
	}
	return f.all.commits.parse(stored{oid: oid, kind: "commit", object: r.Raw})
}

// A stored event with one of these texts passes every prefilter: its text is in a payload,
// or it discards other events.
const (
	elsewhere = `"name":"` + conversation.PayloadText // and PayloadOutput, which begins alike
	discarded = string(conversation.TypeTurnDiscarded)
)

var (
	textElsewhere = search.NewNeedle(elsewhere, false)
	takesBack     = search.NewNeedle(discarded, false)
)

// needles are texts of which an event must contain one. There are none for a prefilter that passes
// everything.
func (f *finder) needles() []search.Needle {
	var needles []search.Needle
	for _, text := range f.findings.filter.Any {
		needles = append(needles, search.NewNeedle(text, f.findings.filter.Fold))
	}
	if len(needles) > 0 && (f.words == nil || f.words.Text) {
		needles = append(needles, textElsewhere)
	}
	return needles
}

// passing are the indices of the records in which a needle stands, and of those that take
// others back. one says that there is one of the first kind.
func passing(records []record, needles []search.Needle) (found []int, one bool) {
	for i, r := range records {
		passes := len(needles) == 0 || stands(needles, r.Raw)
		if one = one || passes; passes || stands([]search.Needle{takesBack}, r.Raw) {
			found = append(found, i)
		}
	}
	return found, one
}

// stands reports whether an event contains a needle outside of its summary of the conversation.
func stands(needles []search.Needle, raw []byte) bool {
	if !slices.ContainsFunc(needles, func(n search.Needle) bool { return n.Index(raw) >= 0 }) {
		return false
	}
	c, err := parseCommit(raw)
	return err != nil || slices.ContainsFunc(needles, func(n search.Needle) bool { // decoding it names the damage
		return n.Index(c.message) >= 0 || n.Index(c.data) >= 0
	})
}

func idOf(oid odb.OID) (id recordID) {
	_, _ = hex.Decode(id[:], []byte(oid)) // it was parsed
	return id
}

func oidOf(id recordID, ids idLen) odb.OID { return odb.OID(hex.EncodeToString(id[:ids])) }
