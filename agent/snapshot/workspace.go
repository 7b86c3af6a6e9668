package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jp/gitcmd/convert"

	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/turnloop"
	"jp/worktree"
)

// Files lets the turn loop see the working tree.
type Files struct {
	Tree  *worktree.Worktree
	store *gitstore.Store
	git   gitcmd.Repository
	run   *gitcmd.Git
	repo  string // workspace id
	ID    string // worktree id
	home  string // of the user
	Off   bool   // no snapshots

	state lookState

	Root *os.Root // of the working tree
	Key  []byte   // for digests

	backups backups

	Notice func(text string) // tells the user; or nil
}

// A lookState is the state that one look at the working tree leaves to the next ones of a run.
type lookState struct {
	sync.Mutex
	others  *worktree.UntrackedFiles // untracked files as last listed; nil at first
	crowded bool                     // the user was told of a folder with very many
	stashes *string                  // the log of refs/stash, as first read; nil at first
	own     *gitstore.RefList        // as last read; nil at first
}

func (f *Files) Tell(text string) {
	if f.Notice != nil {
		f.Notice(text)
	}
}

var _ turnloop.Workspace = (*Files)(nil)

// OpenFiles opens the repository's working tree. jp works without snapshots if there is none, or if a
// snapshot would read more than a project.
func OpenFiles(ctx context.Context, r *repo.Repo) (*Files, error) {
	mode := worktree.Mode(r.Config.Snapshot.Mode)
	var secret func(text string) bool
	if redacts := r.Values.Redacts(); redacts != nil {
		secret = func(text string) bool { return redacts("path", text) }
	}
	tree, err := worktree.Open(ctx, r.At, worktree.Options{
		Mode: mode, Home: r.Env.Get("HOME"), Volatile: r.Config.Store.Durability == "off", Ordered: r.Store.OrderedFlush(), Inspect: r.Values.Inspector(),
		Git: r.Env.GitOptions(), Trees: r.Trees, Rules: r.Rules, Secret: secret, Key: r.StateDir().Key,
	})
	if errors.Is(err, worktree.ErrNoWorktree) {
		return &Files{store: r.Store, Off: true}, nil
	}
	if err != nil {
		return nil, err
	}
	id, err := r.Standings().WorkspaceID()
	if err != nil {
		return nil, err
	}
	keepFiltered(r)
	f := &Files{Tree: tree, store: r.Store, git: r.At, run: gitcmd.At(r.At, r.Env.GitOptions()), repo: id, ID: r.WorktreeID(), home: r.Env.Get("HOME"), Off: mode == worktree.Off}
	if !f.Off {
		f.openBackups(r)
	}
	return f, nil
}

// UnwatchedFiles opens the working tree only for its place, without snapshots and writes.
func UnwatchedFiles(ctx context.Context, r *repo.Repo) (*Files, error) {
	f := &Files{store: r.Store, git: r.At, home: r.Env.Get("HOME"), Off: true}
	tree, err := worktree.Open(ctx, r.At, worktree.Options{Mode: worktree.Off, Git: r.Env.GitOptions(), Trees: r.Trees, Rules: r.Rules})
	if errors.Is(err, worktree.ErrNoWorktree) {
		return f, nil
	}
	f.Tree = tree
	f.repo = r.Standings().KnownWorkspaceID()
	return f, err
}

// Digest identifies the content of a file, for a yes that is about it.
func (f *Files) Digest() func(path string) (string, bool) {
	if f.Root == nil || len(f.Key) == 0 {
		return nil
	}
	return func(path string) (string, bool) {
		if filepath.IsAbs(path) {
			return worktree.DigestOutside(f.Key, path)
		}
		return worktree.Digest(f.Root, f.Key, path)
	}
}

// Place is the place of the repository: HEAD, branch, worktree. It is nil without a working tree.
func (f *Files) Place(ctx context.Context) (*conversation.Git, error) {
	if f.Tree == nil {
		return nil, nil
	}
	state, err := f.Tree.State(ctx)
	if err != nil {
		return nil, err
	}
	return &conversation.Git{Head: state.Head, Branch: state.Branch, Worktree: state.Worktree, WorktreeID: f.ID, Repo: f.repo, InProgress: state.InProgress}, nil
}

// Look reports the present files, compared with a tree. With an error it reports the files that git obeys.
func (f *Files) Look(ctx context.Context, at turnloop.SnapshotRequest) (turnloop.SnapshotResult, error) {
	sight, err := f.look(ctx, at)
	since, after := at.Since.(*mark)
	if _, gone := os.Lstat(filepath.Join(f.git.TopLevel, ".git")); after && err != nil && at.Only == nil && gone == nil {
		f.lookObeyed(ctx, &sight, since.controlFiles)
	}
	return sight, err
}

func (f *Files) look(ctx context.Context, at turnloop.SnapshotRequest) (turnloop.SnapshotResult, error) {
	sight := turnloop.SnapshotResult{Tree: at.Tree}
	if f.Tree == nil {
		return sight, nil
	}
	at = inTree(at)
	place, err := f.Place(ctx)
	if err != nil {
		return sight, err
	}
	sight.Git = *place
	if at.Control {
		sight.Control = f.control(f.controlFiles(ctx))
	}
	if f.Off {
		f.notLooked(ctx, &sight, at)
		return sight, nil
	}
	if at.Tree == "" {
		if at.Tree, err = f.Tree.CommitTree(ctx, place.Head, f.store); err != nil {
			return sight, err
		}
	}
	before := f.untracked()
	snap, marked, err := f.snapshot(ctx, at)
	if errors.Is(err, worktree.ErrTooWide) {
		f.Off = true
		f.Tell("No snapshots here: " + worktree.ErrTooWide.Error() + ". What changes files is not recorded.")
		return sight, nil
	}
	if err != nil {
		return sight, err
	}
	Fill(&sight, snap)
	switch since := at.Since.(type) {
	case *mark:
		if at.Only == nil {
			f.lookObeyed(ctx, &sight, since.controlFiles)
		}
		sight.LeftOut = f.withoutOld(since, sight.LeftOut)
		if at.Only == nil {
			var gone []conversation.SkippedPath
			sight.Refs, gone = f.movedRefs(ctx, since.refs, sight.Git.Branch)
			sight.LeftOut = append(sight.LeftOut, gone...)
		}
		found := f.Tree.WithoutBaseline(snap.Changes, since.tree, had(before, since.moment), since.inodes, func(path string) bool {
			return since.missed.has(path) || before.Hides(path) && !slices.Contains(at.Named, path)
		})
		sight.LeftOut = append(sight.LeftOut, f.unstaged(ctx, since, place.Head, func(path string) bool {
			return !slices.Contains(found, path) && slices.ContainsFunc(snap.Changes, func(c worktree.Change) bool { return c.Path == path })
		})...)
		sight.Unrecorded = quoted(found)
		since.inodes.Close()
		sight.LeftOut = append(sight.LeftOut, since.revertedFiles(snap)...)
		sight.LeftOut = append(sight.LeftOut, f.deletedFiles(since.missed, snap)...)
		f.compare(ctx, at, since.moment, snap, found, snap.Untracked.Untouched(since.listed))
	case *start:
		sight.LeftOut = slices.DeleteFunc(sight.LeftOut, func(l conversation.SkippedPath) bool {
			return l.Path != "." && !slices.Contains(quoted(at.Only), l.Path)
		})
		found := f.Tree.WithoutBaseline(snap.Changes, since.at, had(before, since.moment), nil, since.skipped.has)
		sight.Unrecorded = quoted(found)
		sight.LeftOut = append(sight.LeftOut, f.deletedFiles(since.skipped, snap)...)
		f.compare(ctx, at, since.moment, snap, found, snap.Untracked.Untouched(nil))
	}
	if at.Call != nil && !at.Lost.IsZero() {
		sight.LostUnseen = f.compareLost(ctx, at, snap)
	}
	f.untracked().Recorded(snap.Changes)
	switch {
	case marked != nil:
		marked.index = openIndex(f.git, place.Head)
		marked.listed = f.untracked()
		marked.moment, sight.NoBackup = f.backUp(ctx, at, snap, marked.tree)
		sight.Mark, sight.Control = marked, f.control(marked.controlFiles)
	case at.Only != nil && at.Since == nil:
		begin := &start{at: worktree.MarkAt(time.Now()), skipped: missedBy(snap)}
		begin.moment, sight.NoBackup = f.backUp(ctx, at, snap, begin.at)
		sight.Mark = begin
	}
	return sight, nil
}

// Restorable reports whether a snapshot can hold all present files at the paths. It cannot hold ignored, too
// large, otherwise skipped or converted ones.
func (f *Files) Restorable(ctx context.Context, paths []string) bool {
	if f.Tree == nil || f.Off {
		return false
	}
	state, err := f.Tree.State(ctx)
	if err != nil {
		return false
	}
	tree, err := f.Tree.CommitTree(ctx, state.Head, f.store)
	if err != nil {
		return false
	}
	now, ok, err := f.Tree.SnapshotPaths(ctx, tree, paths, f.store)
	return ok && err == nil && len(now.LeftOut) == 0
}

// inTree is a request without names that trees cannot have. The names of a call are for the tool to judge, so
// that a wrong one cannot stop the turn. The look then is that for a tool that may write to any file.
func inTree(at turnloop.SnapshotRequest) turnloop.SnapshotRequest {
	wrong := func(path string) bool { return !worktree.IsPath(path) }
	if slices.ContainsFunc(at.Only, wrong) {
		at.Only, at.Any = nil, at.Any || at.Since == nil
	}
	if slices.ContainsFunc(at.Named, wrong) {
		at.Named = slices.DeleteFunc(slices.Clone(at.Named), wrong)
	}
	return at
}

// notLooked fills the result of a look without snapshots: the changes by the tool are unknown.
func (f *Files) notLooked(ctx context.Context, sight *turnloop.SnapshotResult, at turnloop.SnapshotRequest) {
	if at.Since == nil {
		begin := &start{at: worktree.MarkAt(time.Now())}
		if at.Any {
			begin.controlFiles, begin.refs = f.controlFiles(ctx), f.refs(ctx, false)
			sight.Control = f.control(begin.controlFiles)
		}
		sight.Mark = begin
		return
	}
	sight.LeftOut = []conversation.SkippedPath{{Path: ".", Why: "there were no snapshots then"}}
	if since, ok := at.Since.(*start); ok && since.controlFiles != nil {
		f.lookObeyed(ctx, sight, since.controlFiles)
		var gone []conversation.SkippedPath
		sight.Refs, gone = f.movedRefs(ctx, since.refs, sight.Git.Branch)
		sight.LeftOut = append(sight.LeftOut, gone...)
	}
}

func quoted(paths []string) (texts []string) {
	for _, path := range paths {
		texts = append(texts, conversation.QuotePath(path))
	}
	return texts
}

// snapshot looks only at the named files if the tool touches no others, else at everything.
func (f *Files) snapshot(ctx context.Context, at turnloop.SnapshotRequest) (worktree.Snapshot, *mark, error) {
	if at.Only != nil {
		snap, ok, err := f.Tree.SnapshotPaths(ctx, at.Tree, at.Only, f.store)
		if err != nil || ok {
			return snap, nil, err
		}
	}
	if since, after := at.Since.(*mark); after {
		snap, err := f.Tree.Snapshot(ctx, at.Tree, worktree.SnapshotOptions{
			Since: &since.tree, Untracked: true, ListUntracked: f.untracked(), Unchanged: f.backups.store.Unchanged(since.moment), Named: at.Named, Objects: f.store, Odd: f.odd(),
		})
		if err == nil && snap.Untracked != nil {
			f.list(snap.Untracked)
		}
		return snap, nil, err
	}
	if !at.Lost.IsZero() {
		since := worktree.MarkAt(at.Lost)
		snap, err := f.written(ctx, at.Tree, worktree.SnapshotOptions{Since: &since, Untracked: true, Named: at.Named})
		return snap, nil, err
	}
	snap, err := f.written(ctx, at.Tree, worktree.SnapshotOptions{Named: at.Named, Odd: f.odd(), Fresh: at.Destroys})
	if err != nil {
		return snap, nil, err
	}
	if at.Any {
		others, err := f.Tree.FindUntracked(ctx, f.untracked())
		if err != nil {
			return snap, nil, err
		}
		f.list(others)
		f.tellCrowded(others.Crowded(crowd))
	}
	now, err := f.Tree.Now(ctx)
	return snap, &mark{tree: now, controlFiles: f.controlFiles(ctx), refs: f.refs(ctx, false), missed: missedBy(snap), stale: snap.Stale, inodes: worktree.InodesOf(f.Tree, snap.Tree)}, err
}

// untracked are the untracked files as they were last listed: before a tool that may
// write to any file, and after it.
func (f *Files) untracked() *worktree.UntrackedFiles {
	f.state.Lock()
	defer f.state.Unlock()
	return f.state.others
}

func (f *Files) list(others *worktree.UntrackedFiles) {
	f.state.Lock()
	defer f.state.Unlock()
	f.state.others = others
}

// written is a snapshot that git can read before events have it: for a look before a tool, or a comparison.
func (f *Files) written(ctx context.Context, tree string, opts worktree.SnapshotOptions) (worktree.Snapshot, error) {
	opts.Objects = f.store
	snap, err := f.Tree.Snapshot(ctx, tree, opts)
	if err != nil || len(snap.Objects) == 0 {
		return snap, err
	}
	var objects []conversation.Object
	for _, o := range snap.Objects {
		objects = append(objects, conversation.Object{Kind: o.Kind, OID: o.OID, Data: o.Data})
	}
	snap.Objects = nil
	return snap, gitstore.Collection{Store: f.store}.Keep(ctx, objects)
}

func Fill(sight *turnloop.SnapshotResult, snap worktree.Snapshot) {
	sight.Tree = snap.Tree
	for _, c := range snap.Changes {
		path := conversation.QuotePath(c.Path)
		sight.Changes = append(sight.Changes, conversation.FileChange{Path: path, Before: c.Before, After: c.After})
		sight.Stat = append(sight.Stat, conversation.PathStat{Path: path, Status: c.Status, Added: c.Added, Deleted: c.Deleted})
	}
	for _, l := range snap.LeftOut {
		sight.LeftOut = append(sight.LeftOut, conversation.SkippedPath{Path: conversation.QuotePath(l.Path), Why: l.Why})
	}
	for _, o := range snap.Objects {
		sight.Objects = append(sight.Objects, conversation.Object{Kind: o.Kind, OID: o.OID, Data: o.Data})
	}
}

// keepFiltered stores the content whose filter does not run, for the next process: a tool may have copied it
// by then.
func keepFiltered(r *repo.Repo) {
	if key, err := gitstore.LoadKey(r.KeyFile()); err == nil {
		name := sha256.Sum256([]byte(r.At.TopLevel))
		convert.Keep(r.At.TopLevel, filepath.Join(r.Paths.StateDir, "filtered", hex.EncodeToString(name[:8])+".json"), key)
	}
}
