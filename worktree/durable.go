package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// writes is a period in which git's children write objects. They sync the objects, but not the folders that
// have their names.
type writes struct {
	objects string // "" if jp does not wait for the disk
	since   time.Time
	flush   func(*os.File) error
}

// tick is more than file times can be behind the clock.
const tick = 100 * time.Millisecond

func (w *Worktree) beforeWrites() writes {
	if w.opts.Volatile {
		return writes{}
	}
	return writes{objects: filepath.Join(w.repo.CommonDir, "objects"), since: time.Now().Add(-tick), flush: w.flush}
}

// sync syncs the folders of objects in which something was made since.
func (d writes) sync() error {
	if d.objects == "" {
		return nil
	}
	entries, err := os.ReadDir(d.objects)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(e.Name()) != 2 {
			continue
		}
		dir := filepath.Join(d.objects, e.Name())
		info, err := os.Stat(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue // pruned, being empty
		}
		if err != nil {
			return err
		}
		if info.ModTime().Before(d.since) {
			continue
		}
		if err := d.syncDir(dir); err != nil {
			return err
		}
	}
	return d.syncDir(d.objects)
}

func (d writes) syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.flush(f), f.Close())
}
