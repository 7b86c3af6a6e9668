package odb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

const (
	objectPerm = 0o444
	// tmpPrefix is git's own, so that git prune removes files that a crash leaves.
	tmpPrefix = "tmp_obj_"
	// nameTries bounds how often git prune may take a temporary file or an
	// empty directory away under us.
	nameTries = 64
)

// stagedObject is an object on its way to its name.
type stagedObject struct {
	Object
	tmp  string
	file File
	// existing says that the object was there before, whole; file reads it.
	existing bool
	// named says that the object is in its place.
	named bool
}

// stage writes each object to a temporary file and lets its data go.
func (w *write) stage(objects []Object) error {
	for _, o := range objects {
		staged := &stagedObject{Object: o}
		w.staged = append(w.staged, staged)
		if w.reuse(staged) {
			continue
		}
		if err := w.create(staged); err != nil {
			return fmt.Errorf("write object %s: %w", o.OID, classify(err))
		}
	}
	return nil
}

// reuse takes an existing loose object if it is whole: a crash of a writer that does not flush leaves empty
// ones. It does not look for a commit, which contains its time: an existing one is replaced by the same
// bytes.
func (w *write) reuse(o *stagedObject) bool {
	if o.Kind == "commit" {
		return false
	}
	file, err := w.store.objects.Open(o.OID.file())
	if err != nil {
		return false
	}
	kind, _, err := w.store.looseObject(o.OID, true)
	if err != nil || kind != o.Kind {
		file.Close()
		return false
	}
	o.file, o.existing, o.named = file, true, true
	return true
}

func (w *write) create(o *stagedObject) error {
	var random [10]byte
	rand.Read(random[:])
	o.tmp, o.named = tmpPrefix+hex.EncodeToString(random[:]), false
	file, err := w.store.objects.Create(o.tmp, objectPerm)
	if err != nil {
		o.tmp = ""
		return err
	}
	o.file = file
	if err := w.store.share(file); err != nil {
		return err
	}
	content := deflate(w.content, o.Object)
	if len(o.Data) <= storedLimit {
		w.content = content
	}
	if err := writeAll(file, content); err != nil {
		return err
	}
	if err := w.flushes.begin(file); err != nil {
		return w.store.failStop(err)
	}
	return nil
}

// syncData waits for the data of all files. On the stepwise path each wait is a
// flush of the disk, and several at once share one, those of the refs' new values and
// of the directories above them among them.
func (w *write) syncData() error {
	if w.flushes.parallel {
		return w.settleAtOnce()
	}
	for _, o := range w.staged {
		if err := w.settleOne(o); err != nil {
			return err
		}
	}
	return nil
}

// flushAbove flushes one directory after the other: mostly all of them are old, and another thread would
// cost more.
func (w *write) flushAbove() error {
	return inOrder(len(w.above), func(i int) error { return w.flushes.entry(w.above[i].Dir) })
}

func (w *write) settleAtOnce() error {
	var flushes []func() error
	for _, o := range w.staged {
		flushes = append(flushes, func() error { return w.settleOne(o) })
	}
	for _, m := range w.moves {
		flushes = append(flushes, func() error { return w.flushes.sync(m.lock) })
	}
	if len(w.above) > 0 {
		flushes = append(flushes, w.flushAbove)
	}
	if err := w.store.atOnce(len(flushes), func(i int) error { return flushes[i]() }); err != nil {
		return err
	}
	for _, m := range w.moves {
		w.store.dirs.markDurable(m.dir)
	}
	return nil
}

// atOnce runs n flushes together.
func (s *Store) atOnce(n int, flush func(i int) error) error {
	if n == 0 {
		return nil
	}
	if s.oneByOne {
		return inOrder(n, flush)
	}
	var wg sync.WaitGroup
	faults := make([]error, n)
	for i := range n - 1 {
		wg.Go(func() { faults[i] = flush(i) })
	}
	faults[n-1] = flush(n - 1)
	wg.Wait()
	return errors.Join(faults...)
}

func inOrder(n int, flush func(i int) error) error {
	for i := range n {
		if err := flush(i); err != nil {
			return err
		}
	}
	return nil
}

func (w *write) settleOne(o *stagedObject) error {
	if o.existing {
		return w.flushes.existing(o.file)
	}
	return w.flushes.sync(o.file)
}

// publish waits for the objects' data and gives them their names. It checks afterwards that they are all
// there: git prune takes unreferenced objects.
func (w *write) publish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.syncData(); err != nil {
		return w.store.failStop(err)
	}
	for range nameTries {
		if err := w.nameAll(); err != nil {
			return err
		}
		err := w.syncFans()
		if err != nil && (errors.Is(err, ErrPoisoned) || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("write objects: %w", classify(err))
		}
		if lost := w.anyLost(); err == nil && !lost {
			return nil
		}
	}
	return fmt.Errorf("write objects: %w: removed %d times while being written", ErrObjectMissing, nameTries)
}

func (w *write) nameAll() error {
	for _, o := range w.staged {
		for tries := 0; !o.named; tries++ {
			err := w.name(o)
			if err != nil && (tries == nameTries || !errors.Is(err, fs.ErrNotExist)) {
				return fmt.Errorf("write object %s: %w", o.OID, classify(err))
			}
		}
	}
	return nil
}

// anyLost finds the objects that have disappeared, to write them again.
func (w *write) anyLost() bool {
	lost := false
	for _, o := range w.staged {
		if _, err := w.store.objects.Stat(o.OID.file()); errors.Is(err, fs.ErrNotExist) {
			o.file.Close()
			o.file, o.tmp, o.existing, o.named = nil, "", false, false
			lost = true
		}
	}
	return lost
}

// name moves the object to its place. It says fs.ErrNotExist when git has
// pruned the temporary file or the directory: the object is then staged again.
func (w *write) name(o *stagedObject) error {
	objects := w.store.objects
	if o.tmp != "" {
		err := objects.Rename(o.tmp, o.OID.file())
		if errors.Is(err, fs.ErrNotExist) {
			if err := w.store.mkdir(objects, string(o.OID[:2])); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			err = objects.Rename(o.tmp, o.OID.file())
		}
		if err == nil {
			o.named = true
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		o.abandon(objects)
	}
	return w.restage(o)
}

// restage writes the object once more and reports that it is still without a name.
func (w *write) restage(o *stagedObject) error {
	if err := w.create(o); err != nil {
		return err
	}
	if err := w.flushes.sync(o.file); err != nil {
		return w.store.failStop(err)
	}
	return fs.ErrNotExist
}

// abandon closes the file and removes it if it has no name yet.
func (o *stagedObject) abandon(objects Dir) {
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	if o.tmp != "" && !o.named {
		objects.Remove(o.tmp)
		o.tmp = ""
	}
}
