package resume

import (
	"context"
	"errors"
	"slices"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
	"jp/worktree"
)

// maxDirty bounds the paths of git status in a report.
const maxDirty = 10_000

// An EvidenceSource reads the present state of the repository.
type EvidenceSource struct {
	Repo  *repo.Repo
	ID    conversation.ID
	Files *snapshot.Files
	Tools *tool.Registry // their definitions have the files of a call; nil: unknown

	listing *worktree.Listing          // of the untracked files, by Read; nil before it
	leftOut []conversation.SkippedPath // of the snapshot that Read made
}

// Listing is of the untracked files at the last Read, or nil.
func (s *EvidenceSource) Listing() *worktree.Listing {
	if s == nil {
		return nil
	}
	return s.listing
}

// Read reads the present state of the repository, for a comparison with a record. delegates are those of the
// record's open calls.
func (s *EvidenceSource) Read(ctx context.Context, r reconcile.Record, delegates map[int]reconcile.Delegate) (reconcile.RepoState, error) {
	t := reconcile.RepoState{Tree: r.Last.Tree, Descends: true, Now: s.Repo.Env.Now(), Alive: map[int]bool{}, Delegates: delegates}
	for _, call := range r.Ledger.Open() {
		t.Alive[call.Event.Seq] = s.Repo.Locks.ToolAlive(s.ID, call.Event.Seq)
	}
	f := s.Files
	if f.Tree == nil {
		t.Git = r.Last.Git
		return t, nil
	}
	at := turnloop.SnapshotRequest{Tree: r.Last.Tree}
	calls, since := r.Ledger.Lost()
	at.Lost = since
	for _, call := range calls {
		at.Named = append(at.Named, s.written(call)...)
	}
	found := make(chan error, 1)
	go func() { // both take git's time, and are independent
		var err error
		t.Dirty, err = dirty(ctx, f.Tree)
		found <- err
	}()
	sight, err := f.Look(ctx, at)
	if err := errors.Join(err, <-found); err != nil {
		return t, err
	}
	t.Tree, t.Git = sight.Tree, sight.Git
	s.leftOut = sight.LeftOut
	t.Submodules = f.Tree.Submodules()
	if t.Descends, err = s.descends(ctx, r.Last.Git.Head, t.Git.Head); err != nil {
		return t, err
	}
	if t.Untracked, err = s.untracked(ctx, t.Tree); err != nil {
		return t, err
	}
	return t, s.compare(ctx, r, &t)
}

// compare finds the changes while the turn was interrupted, and since the start of each lost call.
func (s *EvidenceSource) compare(ctx context.Context, r reconcile.Record, t *reconcile.RepoState) error {
	for _, e := range r.Ends(reconcile.Point{Tree: t.Tree, Git: t.Git}) {
		changed, err := changedSince(ctx, s.Files, e.From.Tree, e.To.Tree)
		if err != nil {
			return err
		}
		t.Changed = reconcile.Sum(t.Changed, changed)
	}
	t.ChangedSince = map[int][]string{}
	paths := map[string][]string{} // by the tree before: mostly it is the same one
	calls, _ := r.Ledger.Lost()
	for _, call := range calls {
		tree := call.Started.Tree
		if _, known := paths[tree]; !known {
			changed, err := changedSince(ctx, s.Files, tree, t.Tree)
			if err != nil {
				return err
			}
			for _, c := range changed {
				paths[tree] = append(paths[tree], c.Path)
			}
		}
		t.ChangedSince[call.Event.Seq] = paths[tree]
	}
	return nil
}

// descends reports whether a commit is, or comes after, another one. A missing one has no descendants.
func (s *EvidenceSource) descends(ctx context.Context, was, is string) (bool, error) {
	if was == is || was == "" {
		return true, nil
	}
	if is == "" {
		return false, nil
	}
	_, err := s.Repo.Git.Run(ctx, "merge-base", "--is-ancestor", was, is)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil, nil
}

func changedSince(ctx context.Context, f *snapshot.Files, was, is string) ([]conversation.PathStat, error) {
	if was == is || was == "" || f.Off {
		return nil, nil
	}
	changes, err := f.Tree.Diff(ctx, was, is)
	if err != nil {
		return nil, err
	}
	var stat []conversation.PathStat
	for _, c := range changes {
		stat = append(stat, conversation.PathStat{Path: conversation.QuotePath(c.Path), Status: c.Status, Added: c.Added, Deleted: c.Deleted})
	}
	return stat, nil
}

func dirty(ctx context.Context, tree *worktree.Worktree) ([]string, error) {
	status, err := tree.Status(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range status.Entries[:min(len(status.Entries), maxDirty)] {
		paths = append(paths, conversation.QuotePath(e.Path))
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil // deleted in the index, and untracked: one path
}
