package blame

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"jp/conversation"
)

// mostAdded is how many new events jp adds to a record. From there on it reads the conversation anew.
const mostAdded = 4096

// goOn adds to a record the events since its head. It returns nil if they alone do not tell the rest of the record.
func (x *Index) goOn(ctx context.Context, i conversation.Info, was *record) *record {
	var events []*conversation.Event
	for e, err := range x.repo.Store.Backward(ctx, i.Head) {
		if err != nil || len(events) == mostAdded {
			return nil
		}
		if e.Commit == was.Head {
			slices.Reverse(events)
			from := x.recorder()
			return from.goOn(ctx, events, was)
		}
		events = append(events, e)
	}
	return nil
}

func (r *recorder) goOn(ctx context.Context, events []*conversation.Event, was *record) *record {
	if !r.restore(was) {
		return nil
	}
	made, err := r.read(ctx, events)
	if err != nil || r.lineage.lost {
		return nil
	}
	return made
}

// beginning is the first 8 bytes of an object name.
func beginning(oid string) uint64 {
	n, _ := strconv.ParseUint(oid[:16], 16, 64) // it is a name
	return n
}

// state is what a recorder must know to go on: the numbers of the lines of present files, and which earlier versions had
// some.
func (r *recorder) state() string {
	data := appendTexts(nil, r.ground, r.before, r.head, r.model)
	data = binary.AppendUvarint(data, uint64(r.lineage.lines))
	data = binary.AppendUvarint(data, uint64(len(r.present)))
	here := map[string]bool{}
	for path, oid := range r.present {
		data = appendTexts(data, path, oid)
		numbers, known := r.lineage.of[oid]
		here[oid] = true
		data = binary.AppendUvarint(data, uint64(bit(known)*(1+len(numbers))))
		for _, n := range numbers {
			data = binary.AppendUvarint(data, uint64(n+1))
		}
	}
	for oid := range r.lineage.of {
		if !here[oid] {
			r.lineage.forgotten[beginning(oid)] = true
		}
	}
	for _, keys := range []map[uint64]bool{r.lineage.forgotten, r.from.others, r.bare} {
		data = binary.AppendUvarint(data, uint64(len(keys)))
		for key := range keys {
			data = binary.LittleEndian.AppendUint64(data, key)
		}
	}
	return string(data)
}

// restore goes back to the state at the end of a record.
func (r *recorder) restore(was *record) bool {
	r.begin()
	d := indexDecoder{data: []byte(was.state), words: was.state}
	r.ground, r.before, r.head, r.model = d.text(), d.text(), d.text(), d.text()
	r.lineage.lines = d.number(math.MaxInt32)
	for range d.count(1) {
		path, oid := d.text(), d.text()
		r.present[path] = oid
		n := d.count(1)
		if n == 0 {
			continue
		}
		numbers := make([]int32, n-1)
		for i := range numbers {
			numbers[i] = int32(d.number(len(was.written)+1)) - 1
		}
		r.lineage.of[oid] = numbers
	}
	for _, keys := range []map[uint64]bool{r.lineage.forgotten, r.from.others, r.bare} {
		for range d.count(8) {
			keys[binary.LittleEndian.Uint64(d.take(8))] = true
		}
	}
	r.made = record{Sources: was.Sources, Paths: was.Paths, hunks: was.hunks, written: was.written}
	for i, path := range was.Paths {
		r.paths[path] = int32(i)
	}
	for _, h := range was.hunks {
		for _, l := range h.lines {
			if s := was.sourceOf(l); s != nil && s.Writer == byTool && !r.bare[l.key] {
				if known, is := r.from.mine[l.key]; !is || known < l.number {
					r.from.mine[l.key] = l.number
				}
			}
		}
	}
	return !d.failed && r.ground != ""
}
