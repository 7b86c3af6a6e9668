package repo

import (
	"encoding/binary"
	"path"
	"time"

	"jp/conversation"
)

// packedFields is a file under construction: numbers as varints, texts behind their lengths.
type packedFields struct{ data []byte }

func (w *packedFields) number(n int) { w.data = binary.AppendVarint(w.data, int64(n)) }

func (w *packedFields) text(s string) {
	w.number(len(s))
	w.data = append(w.data, s...)
}

func (w *packedFields) truth(b bool) {
	n := 0
	if b {
		n = 1
	}
	w.number(n)
}

// time keeps the zone as its distance from UTC.
func (w *packedFields) time(t time.Time) {
	_, offset := t.Zone()
	w.data = binary.AppendVarint(w.data, t.Unix())
	w.number(t.Nanosecond())
	w.number(offset)
}

// maybe writes what a pointer names, behind whether it names anything.
func maybe[T any](w *packedFields, p *T, write func(T)) {
	w.truth(p != nil)
	if p != nil {
		write(*p)
	}
}

// summary writes what a list says of an idle conversation.
func (w *packedFields) summary(l Summary) {
	id := func(id conversation.ID) { w.text(string(id)) }
	w.text(l.Ref)
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
	w.truth(l.Local)
}

// unpackedFields reads what packedFields has written. The texts are parts of the file's text.
// Behind the end, and where a length cannot be, it gives zero values, and leaves a rest.
type unpackedFields struct {
	rest string
	zone *time.Location // of the last time
	off  int            // its distance from UTC, in seconds
}

// broken is a rest that no valid file leaves.
const broken = "\xff"

func (f *unpackedFields) number() int {
	var n uint64
	for i := range min(len(f.rest), binary.MaxVarintLen64) {
		b := f.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			f.rest = f.rest[i+1:]
			return int(int64(n>>1) ^ -int64(n&1))
		}
	}
	f.rest = broken
	return 0
}

func (f *unpackedFields) text() string {
	n := f.number()
	if n < 0 || n > len(f.rest) {
		f.rest = broken
		return ""
	}
	s := f.rest[:n]
	f.rest = f.rest[n:]
	return s
}

func (f *unpackedFields) truth() bool { return f.number() != 0 }

func (f *unpackedFields) time() time.Time {
	seconds, nanos, offset := f.number(), f.number(), f.number()
	t := time.Unix(int64(seconds), int64(nanos))
	if offset == 0 {
		return t.UTC()
	}
	if f.zone == nil || offset != f.off {
		f.zone, f.off = time.FixedZone("", offset), offset
	}
	return t.In(f.zone)
}

func maybeRead[T any](f *unpackedFields, p **T, read func() T) {
	if f.truth() {
		v := read()
		*p = &v
	}
}

// summary reads what a list said of an idle conversation.
func (f *unpackedFields) summary(l *Summary) {
	id := func() conversation.ID { return conversation.ID(f.text()) }
	l.Ref, l.Head = f.text(), conversation.Head(f.text())
	l.ID = path.Base(l.Ref)
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
	n := f.number()
	if n > 0 {
		l.Labels = map[string]string{}
	}
	for range n {
		if f.rest == broken {
			return
		}
		name := f.text()
		l.Labels[name] = f.text()
	}
	maybeRead(f, &l.Parent, id)
	maybeRead(f, &l.ForkedFrom, func() ForkedFrom { return ForkedFrom{id(), f.number()} })
	l.Local = f.truth()
	l.Status.State = "idle"
}

// noLabels is nobody's to change.
var noLabels = map[string]string{}
