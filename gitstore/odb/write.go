package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"jp/gitcmd"
)

// Batch becomes durable together. The objects' data must not change afterwards.
type Batch struct {
	// Objects are written in this order: an object before those that name it.
	Objects []Object
	// Updates move refs in this order, after all objects. A crash may leave only the first ones moved.
	Updates []RefUpdate
}

// Write puts the objects and moves the refs, each only from its Old value. On return without an error all
// of it is durable. With ErrRefMoved, ErrRefExists, ErrRefLocked, ErrNoSpace or ErrReadOnly and one ref in
// the batch, the ref has not moved; after ErrPoisoned it may have.
func (s *Store) Write(ctx context.Context, b Batch) error {
	if err := s.checkPoison(); err != nil {
		return err
	}
	if err := b.check(s.opts.Format); err != nil {
		return err
	}
	if c := s.collected.Load(); c != nil {
		return c.write(ctx, b)
	}
	if _, err := s.restoreRecent(ctx, false); err != nil {
		return err
	}
	last := max(0, len(b.Objects)-1) / maxStaged * maxStaged
	first, rest := b.Objects[:last], b.Objects[last:]
	if err := s.writeObjects(ctx, first); err != nil {
		return err
	}
	s.migrated()
	if err := s.refs().write(ctx, first, rest, b.Updates); err != nil {
		return err
	}
	s.remember(b)
	s.wrote.Store(true)
	return nil
}

func (r fileRefs) write(ctx context.Context, first, rest []Object, updates []RefUpdate) error {
	w := &write{store: r.store, flushes: r.store.flushes()}
	defer w.abandon()
	for _, step := range []func(context.Context) error{
		func(context.Context) error { return w.stage(rest) },
		func(ctx context.Context) error { return w.lock(ctx, updates) },
		w.publish,
		func(ctx context.Context) error { return r.store.rewriteLost(ctx, first) },
		w.move,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// maxStaged is the number of objects under way at once. Each has a file open.
const maxStaged = 512

// writeObjects makes objects durable before a ref names them, some at a time.
func (s *Store) writeObjects(ctx context.Context, objects []Object) error {
	for some := range slices.Chunk(objects, maxStaged) {
		if err := s.writeSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) writeSome(ctx context.Context, objects []Object) error {
	w := &write{store: s, flushes: s.flushes()}
	defer w.abandon()
	if err := w.stage(objects); err != nil {
		return err
	}
	if err := w.publish(ctx); err != nil {
		return err
	}
	return w.move(ctx)
}

// rewriteLost writes objects again that were pruned while others were being written, because no ref names
// them yet.
func (s *Store) rewriteLost(ctx context.Context, objects []Object) error {
	for range nameTries {
		lost := s.lost(objects)
		if len(lost) == 0 {
			return nil
		}
		if err := s.writeObjects(ctx, lost); err != nil {
			return err
		}
	}
	return fmt.Errorf("write objects: %w: removed %d times while others were written", ErrObjectMissing, nameTries)
}

// lost are the objects that a new reader would miss: also those of a removed pack, although this process
// can still read it.
func (s *Store) lost(objects []Object) (lost []Object) {
	for _, o := range objects {
		if _, err := s.objects.Stat(o.OID.file()); errors.Is(err, fs.ErrNotExist) {
			lost = append(lost, o)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	s.packs.open(s.objectDirs, s.opts.Format)
	packs := s.packs.current()
	return slices.DeleteFunc(lost, func(o Object) bool {
		return s.packs.named(packs, o.OID) || s.borrows(o.OID) || s.packs.foreign.Load() && s.gitHas(o.OID)
	})
}

// gitHas asks git, which can read any object.
func (s *Store) gitHas(oid OID) bool {
	_, _, err := s.child.info(context.Background(), s, oid)
	return err == nil
}

func (b Batch) check(format gitcmd.ObjectFormat) error {
	for _, o := range b.Objects {
		if !isName(string(o.OID), format) {
			return fmt.Errorf("write object: %w: %q", ErrOID, o.OID)
		}
	}
	for i, u := range b.Updates {
		if err := CheckRefName(u.Ref); err != nil {
			return fmt.Errorf("move ref: %w", err)
		}
		if !isName(string(u.New), format) || (u.Old != "" && !isName(string(u.Old), format)) {
			return fmt.Errorf("move %s: %w: from %q to %q", u.Ref, ErrOID, u.Old, u.New)
		}
		for _, other := range b.Updates[:i] {
			if other.Ref == u.Ref {
				return fmt.Errorf("move %s: %w: named twice", u.Ref, ErrRefConflict)
			}
		}
	}
	return nil
}

// write is one Write under way. Its four steps are: stage the objects under
// temporary names, lock and compare the refs, publish the objects, move the
// refs. Objects get their names under the ref locks, as late as can be.
type write struct {
	store   *Store
	flushes flushes
	staged  []*stagedObject
	moves   []*lockedRef
	content []byte      // of the last small file, whose memory the next one takes
	above   []parentDir // the directories above those of the refs, if they are to be flushed
}

// move gives the refs their values and commits. It cannot be cancelled: from the first rename on, only its
// end tells the outcome.
func (w *write) move(context.Context) error {
	last := w.store.objects
	if err := w.settleLocks(); err != nil {
		return w.store.failStop(err)
	}
	for _, m := range w.moves {
		if err := m.rename(); err != nil {
			return fmt.Errorf("move %s: %w", m.Ref, classify(err))
		}
		if err := w.flushes.entry(m.dir); err != nil {
			return w.store.failStop(err)
		}
		last = m.dir.Dir
	}
	if err := w.flushes.commit(last); err != nil {
		return w.store.failStop(err)
	}
	return nil
}

// settleLocks waits for the refs' new values, if settle has not yet done so.
func (w *write) settleLocks() error {
	if w.flushes.parallel {
		return nil
	}
	for _, m := range w.moves {
		if err := w.flushes.sync(m.lock); err != nil {
			return err
		}
	}
	return nil
}

// abandon releases everything: only the handles of finished files, and also the temporary files and locks
// of the rest. The old values' files stay open, so that no rename has to free one.
func (w *write) abandon() {
	for _, o := range w.staged {
		o.abandon(w.store.objects)
	}
	for _, dir := range w.above {
		dir.Close()
	}
	for _, m := range w.moves {
		m.abandon()
		if m.old != nil {
			w.store.replaced.add(m.old, w.store.path)
		}
		w.store.dirs.release(m.dir)
	}
}

func writeAll(f File, data []byte) error {
	for len(data) > 0 {
		n, err := f.Write(data)
		if err != nil {
			return err
		}
		if n == 0 {
			return errShortWrite
		}
		data = data[n:]
	}
	return nil
}

var errShortWrite = errors.New("the disk took 0 bytes of the data")
