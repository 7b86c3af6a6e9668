package odb_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"jp/gitstore/odb"
	"jp/internal/testing/interleave"
)

// told is a process's report of its write's result. It is a step of its own, since the order of the reports
// matters.
func (w *world) told(t *interleave.Task, head odb.OID, err error) {
	w.killed++
	act := func() {
		w.killed--
		w.changed = true
		if err != nil {
			w.refused = append(w.refused, err)
			return
		}
		w.acked = append(w.acked, head)
	}
	on := []interleave.Access{{Of: "what was acknowledged", Mode: interleave.Writes}}
	if w.cuts {
		on = append(on, interleave.Access{Of: platter, Mode: interleave.Writes})
	}
	t.Do("told", on, act)
}

// openScheduled opens a store whose operations the scheduler puts in order.
func openScheduled(opts odb.Options) (*odb.Store, error) {
	s, err := odb.Open("/repo", opts)
	if err == nil {
		s.OneByOne()
	}
	return s, err
}

// appender is a process that appends one event behind the head that it knows.
func (w *world) appender(name string, opts odb.Options) func(*interleave.Task) {
	return func(t *interleave.Task) {
		opts.FS, opts.LockTimeout = w.of(t), -1
		next := chain(w.base.OID, 1, name)
		s, err := openScheduled(opts)
		if err == nil {
			err = s.Write(bg, appendBatch(ref, w.base.OID, next))
		}
		w.told(t, tip(next), err)
	}
}

// follower is a process that first reads the conversation's head.
func (w *world) follower(name string) func(*interleave.Task) {
	return func(t *interleave.Task) {
		s, err := openScheduled(odb.Options{Format: testFormat, FS: w.of(t), LockTimeout: -1})
		var head odb.OID
		if err == nil {
			head, err = s.ReadRef(ref)
		}
		next := chain(head, 1, name)
		if err == nil {
			err = s.Write(bg, appendBatch(ref, head, next))
		}
		w.told(t, tip(next), err)
	}
}

// taker is a process that may take over the lock of a dead one. By its clock that lock has just become old
// enough, and every later one is too young.
func (w *world) taker(name string) func(*interleave.Task) {
	return w.appender(name, odb.Options{
		Format:       testFormat,
		MayBreakLock: func(string) bool { return true },
		Now:          func() time.Time { return w.left.Add(10 * time.Second) },
	})
}

// inTurn is a process that appends events, one behind the other.
func (w *world) inTurn(n int) func(*interleave.Task) {
	events := chain(w.base.OID, n, "in turn")
	for _, e := range events {
		w.planned = append(w.planned, e.OID)
	}
	return func(t *interleave.Task) {
		s, err := openScheduled(odb.Options{Format: testFormat, FS: w.of(t), LockTimeout: -1})
		head := w.base.OID
		for i := 0; i < n && err == nil; i++ {
			err = s.Write(bg, appendBatch(ref, head, events[i:i+1]))
			head = events[i].OID
			w.told(t, head, err)
		}
	}
}

// reader reads the ref again and again through one store, and must always see at least the events of one
// process that were acknowledged before it looked.
func (w *world) reader(times int) func(*interleave.Task) {
	return func(t *interleave.Task) {
		s, err := openScheduled(odb.Options{Format: testFormat, FS: w.of(t)})
		for i := 0; i < times && err == nil; i++ {
			known := 0
			if !t.Do("look", []interleave.Access{{Of: "what was acknowledged", Mode: interleave.Reads}}, func() { known = len(w.acked) }) {
				return
			}
			var head odb.OID
			head, err = s.ReadRef(ref)
			if err == nil && slices.Index(w.planned, head)+1 < known {
				err = fmt.Errorf("read %.8s when %v was acknowledged", head, w.acked[:known])
			}
		}
		if err != nil && !errors.Is(err, errKilled) {
			w.fault, w.changed = fmt.Errorf("reader: %w", err), true
		}
	}
}
