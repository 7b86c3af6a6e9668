package worktree

import "context"

// Watchable reports whether the kernel notes each change in a file system.
func Watchable(top string) bool { return watchable(top, 0) }

// SuspectsAfterTool is Suspects of the look after a tool.
func (w *Worktree) SuspectsAfterTool(ctx context.Context) (paths []string, ok bool) {
	paths, _, ok = w.suspects(ctx, w.userIndex(), SnapshotOptions{Since: &Timestamp{}, Untracked: true})
	return paths, ok
}

// LookAgain are the paths that the next look looks at. ok is false if it looks at all.
func (w *Worktree) LookAgain() (paths []string, ok bool) {
	again, ok := w.looked.since(w.repo.TopLevel, w.userIndex(), false)
	for path := range again {
		paths = append(paths, path)
	}
	return paths, ok
}
