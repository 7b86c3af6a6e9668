package repo

import (
	"encoding/binary"
	"time"

	"jp/conversation"
)

// A listEncoder writes a list cache: numbers as varints, and each text behind its length in bytes.
type listEncoder struct{ data []byte }

func (w *listEncoder) number(n int) { w.data = binary.AppendVarint(w.data, int64(n)) }

func (w *listEncoder) text(s string) {
	w.number(len(s))
	w.data = append(w.data, s...)
}

func (w *listEncoder) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	w.number(n)
}

// time keeps the zone as its distance from UTC.
func (w *listEncoder) time(t time.Time) {
	_, offset := t.Zone()
	w.data = binary.AppendVarint(w.data, t.Unix())
	w.number(t.Nanosecond())
	w.number(offset)
}

// maybe writes whether a pointer is set, and then its value.
func maybe[T any](w *listEncoder, p *T, write func(T)) {
	w.flag(p != nil)
	if p != nil {
		write(*p)
	}
}

func (w *listEncoder) summary(l Summary) {
	id := func(id conversation.ID) { w.text(string(id)) }
	w.text(string(l.Head))
	for _, text := range []*string{l.Title, l.TitleSource, l.Model, l.Usage.CostUSD} {
		maybe(w, text, w.text)
	}
	for _, n := range []int{l.Events, l.Turns, l.Usage.Input, l.Usage.Output} {
		w.number(n)
	}
	w.time(l.Created)
	for _, t := range []*time.Time{l.LastEvent, l.Archived, l.Expires, l.Pinned} {
		maybe(w, t, w.time)
	}
	w.number(len(l.Labels))
	for name, value := range l.Labels {
		w.text(name)
		w.text(value)
	}
	maybe(w, l.Parent, id)
	maybe(w, l.ForkedFrom, func(f ForkedFrom) {
		id(f.ID)
		w.number(f.Seq)
	})
	w.flag(l.Local)
	w.number(int(l.Standing))
}

// A listDecoder reads the output of a listEncoder. Its texts share the memory of one string. From the first
// malformed value on, all values are zero, and failed is set.
type listDecoder struct {
	data   []byte
	texts  string // the same bytes
	at     int    // the position of the next value
	failed bool

	zone *time.Location // of the last time
	east int            // its distance from UTC, in seconds
}

func newListDecoder(data []byte) *listDecoder { return &listDecoder{data: data, texts: string(data)} }

func (f *listDecoder) number() int {
	n, size := binary.Varint(f.data[f.at:])
	if size <= 0 {
		f.fail()
		return 0
	}
	f.at += size
	return int(n)
}

// count is a number of values that follow, each of one byte at least.
func (f *listDecoder) count() int {
	n := f.number()
	if n < 0 || n > len(f.data)-f.at {
		f.fail()
		return 0
	}
	return n
}

func (f *listDecoder) fail() { f.failed, f.at = true, len(f.data) }

func (f *listDecoder) text() string {
	n := f.count()
	s := f.texts[f.at : f.at+n]
	f.at += n
	return s
}

func (f *listDecoder) flag() bool { return f.number() != 0 }

func (f *listDecoder) time() time.Time {
	seconds, nanos, offset := f.number(), f.number(), f.number()
	t := time.Unix(int64(seconds), int64(nanos))
	if offset == 0 {
		return t.UTC()
	}
	if f.zone == nil || offset != f.east {
		f.zone, f.east = time.FixedZone("", offset), offset
	}
	return t.In(f.zone)
}

// maybeRead reads the output of maybe.
func maybeRead[T any](f *listDecoder, p **T, read func() T) {
	if f.flag() {
		v := read()
		*p = &v
	}
}

// summary is the summary in an entry. It is false for malformed bytes.
func (f *listDecoder) summary(e *listEntry) (l *Summary, ok bool) {
	f.data, f.texts, f.at, f.failed = e.data, e.text, 0, false
	id := func() conversation.ID { return conversation.ID(f.text()) }
	l = &Summary{ID: string(e.id()), Ref: e.ref, Head: conversation.Head(f.text())}
	l.ShortID = conversation.ID(l.ID).Short()
	for _, text := range []**string{&l.Title, &l.TitleSource, &l.Model, &l.Usage.CostUSD} {
		maybeRead(f, text, f.text)
	}
	for _, n := range []*int{&l.Events, &l.Turns, &l.Usage.Input, &l.Usage.Output} {
		*n = f.number()
	}
	l.Created = f.time()
	for _, t := range []**time.Time{&l.LastEvent, &l.Archived, &l.Expires, &l.Pinned} {
		maybeRead(f, t, f.time)
	}
	l.Labels = noLabels
	if n := f.count(); n > 0 {
		l.Labels = make(map[string]string, n)
		for range n {
			name := f.text()
			l.Labels[name] = f.text()
		}
	}
	maybeRead(f, &l.Parent, id)
	maybeRead(f, &l.ForkedFrom, func() ForkedFrom { return ForkedFrom{id(), f.number()} })
	l.Local, l.Standing = f.flag(), conversation.Standing(f.number())
	l.Status.State = "idle"
	return l, !f.failed && f.at == len(f.data)
}

// noLabels is shared by all conversations without labels, and must stay empty.
var noLabels = map[string]string{}
