package odb

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// recheckEvery is how often a Write looks whether its forerunners' objects
	// are still there.
	recheckEvery = 100 * time.Millisecond
	// keepRecent is the time for which an object's bytes are kept for that.
	keepRecent = 30 * time.Second
	// keepObjects and keepBytes are the most that are kept, except that all objects of the newest Write
	// are, whatever their number.
	keepObjects = 512
	keepBytes   = 4 << 20
)

// recentObjects are objects written a short while ago. `git prune` with no grace period removes an object
// that became reachable after it had begun; as long as jp has the bytes, it can write them again.
type recentObjects struct {
	mu      sync.Mutex
	objects []recentObject
	bytes   int
	newest  int // how many of them the newest Write has
	checked time.Time
}

type recentObject struct {
	Object
	at time.Time
}

// remember keeps the objects that a ref names since this batch. Objects without a ref belong to no
// conversation yet.
func (s *Store) remember(b Batch) {
	if len(b.Updates) > 0 {
		s.Watch(b.Objects)
	}
}

// Watch keeps objects of an earlier Write that another git gives a ref, as those of a Write with a ref move
// are kept: if git prunes one within half a minute, jp writes it again.
func (s *Store) Watch(objects []Object) {
	now := s.opts.Now()
	r := &s.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range objects {
		r.objects = append(r.objects, recentObject{o, now})
		r.bytes += len(o.Data)
	}
	r.newest = len(objects)
	r.forget(now)
}

func (r *recentObjects) forget(now time.Time) {
	n := 0
	for n < len(r.objects) && (len(r.objects)-n > max(keepObjects, r.newest) ||
		r.bytes > keepBytes || now.Sub(r.objects[n].at) > keepRecent) {
		r.bytes -= len(r.objects[n].Data)
		r.objects[n].Object = Object{}
		n++
	}
	r.objects = r.objects[n:]
}

func (r *recentObjects) none() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.objects) == 0
}

// due returns the objects to look for, none if it did so a moment ago.
func (r *recentObjects) due(now time.Time, always bool) []recentObject {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.checked.IsZero() {
		r.checked = now
	}
	if len(r.objects) == 0 || (!always && now.Sub(r.checked) < recheckEvery) {
		return nil
	}
	r.checked = now
	return append([]recentObject(nil), r.objects...)
}

// RefsChangedSince reports whether a ref's file, or the one that it shares with others, was written so
// short a while ago that its writer still watches over the ref's objects.
func (s *Store) RefsChangedSince(ref string) bool {
	if CheckRefName(ref) != nil {
		return false
	}
	info, err := s.root.Stat(ref)
	for _, name := range []string{packedRefsFile, tableList} {
		if err != nil {
			info, err = s.root.Stat(name)
		}
	}
	age := s.opts.Now().Sub(time.Unix(0, info.ModTime))
	return err == nil && age < keepRecent && age > -keepRecent
}

// Restore writes watched objects again that have been removed, and reports whether
// there were any.
func (s *Store) Restore(ctx context.Context) (restored bool, err error) {
	n, err := s.restoreRecent(ctx, true)
	return n > 0, err
}

// restoreRecent writes those again that have been removed, and counts them.
func (s *Store) restoreRecent(ctx context.Context, always bool) (int, error) {
	if s.checkPoison() != nil {
		return 0, nil
	}
	var recent []Object
	for _, o := range s.recent.due(s.opts.Now(), always) {
		recent = append(recent, o.Object)
	}
	lost := s.lost(recent)
	if len(lost) == 0 {
		return 0, nil
	}
	if err := s.writeObjects(ctx, lost); err != nil {
		return 0, fmt.Errorf("restore pruned objects: %w", err)
	}
	s.opts.Log.Warn("wrote objects again that were pruned while in use", "objects", len(lost))
	return len(lost), nil
}
