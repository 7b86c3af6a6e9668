package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// A Machine has the registries of all repositories of this user.
type Machine struct{ DataDir string } // as in Registry

func (m Machine) folder() string { return filepath.Join(m.DataDir, "workspace") }

// Live are the entries of all conversations that a process holds, as [Registry.Live] finds them.
func (m Machine) Live(ctx context.Context) (live []Entry, err error) {
	folders, err := os.ReadDir(m.folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	errs := []error{err}
	for _, f := range folders {
		if f.IsDir() {
			entries, err := Registry{DataDir: m.DataDir, Workspace: f.Name()}.all(ctx)
			live, errs = append(live, entries...), append(errs, err)
		}
	}
	return live, errors.Join(errs...)
}

// Changes tells, until ctx ends, that entries have come, changed or gone, or files of further folders. It
// reads only after a change.
func (m Machine) Changes(ctx context.Context, further ...string) (<-chan struct{}, error) {
	return changes(ctx, m.folder(), func(w *fsnotify.Watcher) { m.addAll(w, further) })
}

// Changes tells, until ctx ends, that entries of the repository have come, changed or gone.
func (r Registry) Changes(ctx context.Context) (<-chan struct{}, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return changes(ctx, r.Folder(), func(*fsnotify.Watcher) {})
}

// changes tells what happens in a folder, and in those that add adds at the beginning and when a file comes.
func changes(ctx context.Context, folder string, add func(*fsnotify.Watcher)) (<-chan struct{}, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.Add(folder); err != nil {
		w.Close()
		return nil, err
	}
	add(w)
	news := make(chan struct{}, 1)
	go func() {
		defer w.Close()
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-w.Events:
				if e.Has(fsnotify.Create) {
					add(w)
				}
			case <-w.Errors: // events were lost: look at all
			}
			select {
			case news <- struct{}{}:
			default:
			}
		}
	}()
	return news, nil
}

// addAll watches the registry of each repository, and its folder, in which the registry is made. Further folders that are
// missing are watched from the next event on.
func (m Machine) addAll(w *fsnotify.Watcher, further []string) {
	for _, folder := range further {
		_ = w.Add(folder)
	}
	folders, _ := os.ReadDir(m.folder())
	for _, f := range folders {
		if f.IsDir() {
			folder := filepath.Join(m.folder(), f.Name())
			_ = w.Add(folder)
			_ = w.Add(filepath.Join(folder, "processes")) // one that is missing comes with an event
		}
	}
}
