package odb

import (
	"slices"
	"sync"
)

// fanoutDirs remembers which fan-out directories have a durable entry in
// objects/. A directory that git has removed and made again is another one.
type fanoutDirs struct {
	mu      sync.Mutex
	durable map[string]FileID
}

// syncFans makes the names of the staged objects durable, if the path needs it: the entries of the fan-out
// directories, and these directories' own. A directory that another process replaces meanwhile has lost its
// object. The Write notices that afterwards, and the Store does not remember the directory.
func (w *write) syncFans() error {
	if !w.flushes.parallel {
		return nil
	}
	var names []string
	var ids []FileID
	for _, o := range w.staged {
		name := string(o.OID[:2])
		if slices.Contains(names, name) {
			continue
		}
		info, err := w.store.objects.Stat(name)
		if err != nil {
			return err
		}
		names, ids = append(names, name), append(ids, info.ID)
	}
	if w.store.fans.has(names, ids) {
		return w.store.atOnce(len(names), func(i int) error { return w.syncFan(names[i]) })
	}
	err := w.store.atOnce(len(names)+1, func(i int) error {
		if i < len(names) {
			return w.syncFan(names[i])
		}
		if err := w.flushes.entry(w.store.objects); err != nil {
			return w.store.failStop(err)
		}
		return nil
	})
	if err == nil {
		w.store.fans.add(names, ids)
	}
	return err
}

func (w *write) syncFan(name string) error {
	dir, err := w.store.objects.OpenDir(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := w.flushes.entry(dir); err != nil {
		return w.store.failStop(err)
	}
	return nil
}

func (f *fanoutDirs) has(names []string, ids []FileID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, name := range names {
		if known, ok := f.durable[name]; !ok || known != ids[i] {
			return false
		}
	}
	return true
}

func (f *fanoutDirs) add(names []string, ids []FileID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.durable == nil {
		f.durable = map[string]FileID{}
	}
	for i, name := range names {
		f.durable[name] = ids[i]
	}
}
