package worktree

import (
	"context"
	"fmt"

	"jp/internal/safefile"
)

// LockMutation takes the lock that tools which change files hold while they
// run, and waits for it until ctx ends. It is of this working tree only, and
// goes when the process dies.
func (w *Worktree) LockMutation(ctx context.Context) (unlock func(), err error) {
	return w.lock(ctx, "mutation.lock")
}

// lock waits for an exclusive lock on a file in the git directory. The file
// stays: removing it would let two processes lock two files of one name.
func (w *Worktree) lock(ctx context.Context, name string) (func(), error) {
	f, err := w.openLock(name)
	if err != nil {
		return nil, fmt.Errorf("lock the working tree with %s: %w", w.state(name), err)
	}
	if err := safefile.Lock(ctx, f); err != nil {
		_ = f.Close() // the file is unwritten
		return nil, fmt.Errorf("lock the working tree with %s: %w", w.state(name), err)
	}
	return func() { safefile.Unlock(f) }, nil
}
