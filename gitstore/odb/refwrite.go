package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"
)

const (
	lockPerm = 0o666
	// dirTries bounds how often git may remove an emptied directory under us.
	dirTries = 16
)

// lockedRef is one ref under its lock.
type lockedRef struct {
	RefUpdate
	dir  *refDir
	base string
	lock File
	// old is the loose value's file, kept open: the rename over it is faster
	// while a process still holds it.
	old   File
	moved bool
}

// lock takes the refs' locks in order, compares their values and writes the
// new ones into the locks.
func (w *write) lock(ctx context.Context, updates []RefUpdate) error {
	deadline := time.Now().Add(w.store.opts.LockTimeout)
	for _, u := range updates {
		m, err := w.store.lockRef(ctx, u, deadline)
		if err != nil {
			return fmt.Errorf("lock %s: %w", u.Ref, err)
		}
		w.moves = append(w.moves, m)
		if err := w.store.compare(m); err != nil {
			return fmt.Errorf("move %s: %w", u.Ref, err)
		}
		if err := w.openAbove(m); err != nil {
			return fmt.Errorf("move %s: %w", u.Ref, err)
		}
	}
	for _, m := range w.moves {
		if err := writeAll(m.lock, []byte(m.New+"\n")); err != nil {
			return fmt.Errorf("move %s: %w", m.Ref, classify(err))
		}
		if err := w.flushes.begin(m.lock); err != nil {
			return w.store.failStop(err)
		}
	}
	return nil
}

// openAbove opens the directories to flush with the first move in one of them: its entry in the one above
// may be another process's, made and never flushed, and so on up. The lock keeps them all in place, so each
// is flushed once for all moves.
func (w *write) openAbove(m *lockedRef) error {
	if !w.flushes.parallel || w.store.dirs.isDurable(m.dir) {
		return nil
	}
	for name, _ := splitRef(m.dir.name); name != "." && !w.hasAbove(name); name, _ = splitRef(name) {
		dir, err := w.store.walkDir(name, false)
		if err != nil {
			return err
		}
		w.above = append(w.above, parentDir{dir, name})
	}
	return nil
}

// hasAbove reports whether a directory will be flushed, and with it those above it.
func (w *write) hasAbove(name string) bool {
	return slices.ContainsFunc(w.above, func(d parentDir) bool { return d.name == name })
}

// parentDir is a directory above one of refs.
type parentDir struct {
	Dir
	name string
}

// lockRef waits a little for the holder of the lock: git's pack-refs takes it
// for an instant.
func (s *Store) lockRef(ctx context.Context, u RefUpdate, deadline time.Time) (*lockedRef, error) {
	told := s.opts.Now().Add(longWait)
	for wait := firstBackoff; ; wait = min(2*wait, maxBackoff) {
		m, err := s.tryLock(u)
		if !errors.Is(err, fs.ErrExist) {
			return m, err
		}
		if s.breakLock(u.Ref) {
			continue
		}
		if now := s.opts.Now(); now.After(told) {
			told = now.Add(time.Hour) // once
			s.opts.Log.Warn("waiting for a lock; one that was left by a kill is taken over when it is ten seconds old", "lock", u.Ref+lockSuffix)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w: %s%s exists", ErrRefLocked, u.Ref, lockSuffix)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// tryLock creates the lock through the directory's handle. If git has removed the directory since, the lock
// goes into a new one.
func (s *Store) tryLock(u RefUpdate) (*lockedRef, error) {
	dirName, base := splitRef(u.Ref)
	for range dirTries {
		dir, err := s.refDir(dirName, true)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lock, err := dir.Create(base+lockSuffix, lockPerm)
		if err == nil {
			m := &lockedRef{RefUpdate: u, dir: dir, base: base, lock: lock}
			if err := s.share(lock); err != nil {
				m.abandon()
				s.dirs.release(dir)
				return nil, classify(err)
			}
			return m, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			s.dirs.release(dir)
			return nil, classify(err)
		}
		s.dirs.drop(dir)
	}
	return nil, fmt.Errorf("%w: %s was removed %d times", ErrRefLocked, dirName, dirTries)
}

// breakLock removes a stale lock, if the caller has confirmed that its owner is dead.
func (s *Store) breakLock(ref string) bool {
	if s.opts.MayBreakLock == nil {
		return false
	}
	dirName, base := splitRef(ref)
	dir, err := s.refDir(dirName, false)
	if err != nil {
		return false
	}
	defer s.dirs.release(dir)
	before, err := dir.Stat(base + lockSuffix)
	age := s.opts.Now().Sub(time.Unix(0, before.ModTime))
	if err != nil || age < staleLock || !s.opts.MayBreakLock(ref) {
		return false
	}
	now, err := dir.Stat(base + lockSuffix)
	if err != nil || now != before || dir.Remove(base+lockSuffix) != nil {
		return false
	}
	s.opts.Log.Warn("took over a lock that was left by a kill", "lock", ref+lockSuffix, "age", age.Round(time.Second))
	return true
}

// compare reads the value under the lock, loose and then packed, and refuses
// any other than the expected one.
func (s *Store) compare(m *lockedRef) error {
	file, err := m.dir.Open(m.base)
	found, old, err := readRefFile(file, err, s.opts.Format)
	m.old = old
	if err != nil {
		return err
	}
	var packed packedRefs
	if found == "" {
		if packed, err = s.packedRefs(); err != nil {
			return err
		}
		if found, err = packed.find(m.Ref); err != nil {
			return err
		}
		if err = m.clear(); err != nil {
			return err
		}
	}
	if found != m.Old {
		return &RefError{Ref: m.Ref, Want: m.Old, Found: found}
	}
	if m.Old == "" {
		return s.checkConflict(m, packed)
	}
	return nil
}

// checkConflict keeps a new ref from standing above or below another one. A
// loose one above it has already stopped the lock.
func (s *Store) checkConflict(m *lockedRef, packed packedRefs) error {
	other, err := packed.below(m.Ref + "/")
	if err != nil {
		return err
	}
	if len(other) > 0 {
		return fmt.Errorf("%w: %s", ErrRefConflict, other[0].Name)
	}
	for dir, _ := splitRef(m.Ref); dir != "refs"; dir, _ = splitRef(dir) {
		found, err := packed.find(dir)
		if err != nil {
			return err
		}
		if found != "" {
			return fmt.Errorf("%w: %s", ErrRefConflict, dir)
		}
	}
	return nil
}

// clear removes an empty directory in the place of a ref that has no file: git leaves some, and removes
// those that it meets.
func (m *lockedRef) clear() error {
	info, err := m.dir.Stat(m.base)
	if err != nil || info.Kind != KindDir {
		return nil
	}
	if err := m.dir.RemoveDir(m.base); errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: there are refs below %s", ErrRefConflict, m.Ref)
	}
	return nil
}

func (m *lockedRef) rename() error {
	if err := m.dir.Rename(m.base+lockSuffix, m.base); err != nil {
		return err
	}
	m.moved = true
	return nil
}

func (m *lockedRef) abandon() {
	if !m.moved {
		m.dir.Remove(m.base + lockSuffix)
	}
	m.lock.Close()
}
