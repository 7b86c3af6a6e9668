package worktree

import (
	"context"
	"errors"
)

// Suspects are the tracked paths of which jp alone cannot say that they are as the user's
// index has them.
func (w *Worktree) Suspects(ctx context.Context) (paths []string, ok bool) {
	return w.suspects(ctx, w.userIndex())
}

// OnSync is told of each folder that is flushed for a snapshot's objects, and may fail
// instead.
func (w *Worktree) OnSync(told func(path string) error) {
	w.syncDir = func(path string) error { return errors.Join(told(path), syncDir(path)) }
}
