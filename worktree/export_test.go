package worktree

import (
	"context"
	"os"
)

// Suspects are the tracked paths that jp alone cannot show to be as the user's index has them.
func (w *Worktree) Suspects(ctx context.Context) (paths []string, ok bool) {
	paths, _, ok = w.suspects(ctx, w.userIndex(), SnapshotOptions{})
	return paths, ok
}

// OnFlush tells of files and folders that are about to be flushed.
func (w *Worktree) OnFlush(tell func(path string)) {
	w.flush = func(f *os.File) error {
		tell(f.Name())
		return f.Sync()
	}
}
