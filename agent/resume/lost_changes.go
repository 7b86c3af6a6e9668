package resume

import (
	"context"
	"slices"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/backup"
	"jp/turnloop"
	"jp/worktree"
)

// LostChanges are the files that changed since the first call of unknown outcome began, before a resume
// records them. It is empty while a process runs the turn, and in another working tree. Only files below some
// paths count, if there are any.
func LostChanges(ctx context.Context, v *repo.View, below ...string) ([]string, error) {
	if v.Tail == nil {
		return nil, nil
	}
	calls, since := v.Tail.Ledger().Lost()
	if _, held := v.Repo.Locks.Held(v.ID); held || len(calls) == 0 {
		return nil, nil
	}
	files, err := snapshot.OpenFiles(ctx, v.Repo)
	if err != nil || files.Tree == nil {
		return nil, err
	}
	newest := calls[len(calls)-1].Event
	sight, err := files.Look(ctx, turnloop.SnapshotRequest{
		Tree: v.Events[len(v.Events)-1].Tree, Lost: since, Event: backup.OnlyCompare,
		Call: &turnloop.CallPlace{Conversation: v.ID, Turn: newest.Turn, Seq: newest.Seq},
	})
	if err != nil {
		return nil, err
	}
	if then := v.LastPlace(); then != nil && !then.SameWorktree(sight.Git) {
		return nil, nil
	}
	changed, err := changedSince(ctx, files, calls[0].Started.Tree, sight.Tree)
	paths := sight.LostUnseen
	for _, c := range changed {
		paths = append(paths, repo.Unquoted([]string{c.Path})...)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return len(below) > 0 && !worktree.Under(path, below) }), err
}
