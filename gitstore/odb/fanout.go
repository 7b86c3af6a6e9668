package odb

import (
	"slices"
	"sync"
)

// fanOuts remembers which fan-out directories have a durable entry in
// objects/. A directory that git has removed and made again is another one.
type fanOuts struct {
	mu      sync.Mutex
	durable map[string]FileID
}

// syncFans makes the names of the staged objects durable, where the path needs
// it: the entries of the fan-out directories, then these directories' own.
func (w *write) syncFans() error {
	if !w.flushes.parallel {
		return nil
	}
	var names []string
	for _, o := range w.staged {
		if name := string(o.OID[:2]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	ids := make([]FileID, len(names))
	err := atOnce(len(names), func(i int) (err error) {
		ids[i], err = w.syncFan(names[i])
		return err
	})
	if err != nil || w.store.fans.has(names, ids) {
		return err
	}
	if err := w.flushes.entry(w.store.objects); err != nil {
		return w.store.poison(err)
	}
	w.store.fans.add(names, ids)
	return nil
}

func (w *write) syncFan(name string) (FileID, error) {
	dir, err := w.store.objects.OpenDir(name)
	if err != nil {
		return FileID{}, err
	}
	defer dir.Close()
	if err := w.flushes.entry(dir); err != nil {
		return FileID{}, w.store.poison(err)
	}
	info, err := w.store.objects.Stat(name)
	return info.ID, err
}

func (f *fanOuts) has(names []string, ids []FileID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, name := range names {
		if known, ok := f.durable[name]; !ok || known != ids[i] {
			return false
		}
	}
	return true
}

func (f *fanOuts) add(names []string, ids []FileID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.durable == nil {
		f.durable = map[string]FileID{}
	}
	for i, name := range names {
		f.durable[name] = ids[i]
	}
}
