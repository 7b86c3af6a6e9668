package worktree

import "context"

// Suspects are the tracked paths of which jp alone cannot say that they are as the user's
// index has them.
func (w *Worktree) Suspects(ctx context.Context) (paths []string, ok bool) {
	return w.suspects(ctx, w.userIndex())
}
