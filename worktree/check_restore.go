package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// CheckRestore is the list of paths that [Worktree.Restore] would leave alone now, with the reasons. It
// lacks those that only writing shows.
func (w *Worktree) CheckRestore(ctx context.Context, puts []WriteOp, protected []string) ([]Skipped, error) {
	r, err := w.restoring(nil, protected)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer r.root.Close()
	admitted, err := r.admit(ctx, puts)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	room := roomBy(admitted)
	for _, p := range admitted {
		if room.made(p.Path) {
			continue
		}
		var refused refusal
		if err := r.reachable(p); errors.As(err, &refused) {
			r.note(p.Path, refused)
		}
	}
	return r.left, nil
}

// reachable looks at the files in the place of a path and of its folders.
func (r *restoring) reachable(p WriteOp) error {
	here, err := r.folder(p.Path, false)
	if err != nil {
		return err
	}
	defer here.Close()
	info, err := here.Lstat(path.Base(p.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir() && p.Is.Mode != modeTree:
		return refusal(whyFolder)
	case r.guarded.has(info):
		return refusal(whyProtected)
	case p.Is == (Version{}):
		return refusal(whyUnknown)
	}
	return nil
}

// freedPaths are the paths that removals free: the files, also those that a folder replaces, and the folders that they may empty.
type freedPaths struct{ files, folders map[string]bool }

func roomBy(puts []WriteOp) freedPaths {
	r := freedPaths{map[string]bool{}, map[string]bool{}}
	for _, p := range puts {
		if p.To.Mode == modeTree {
			r.files[p.Path] = true
		}
		if p.To != (Version{}) {
			continue
		}
		r.files[p.Path] = true
		for at := path.Dir(p.Path); at != "."; at = path.Dir(at) {
			r.folders[at] = true
		}
	}
	return r
}

// made reports whether the file in the place of a path, or of one of its folders, may go.
func (r freedPaths) made(p string) bool {
	for at := path.Dir(p); at != "."; at = path.Dir(at) {
		if r.files[at] {
			return true
		}
	}
	return r.folders[p]
}
