package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/action"
)

// leftOut are the files that tools changed until then, outside of all snapshots. It stops at a damaged event,
// and then reports that the list is incomplete.
func (b *besideTree) leftOut(ctx context.Context) (l snapshot.Unseen) {
	if b.fork.View.Repo.Config.Snapshot.Mode == "off" || b.fork.At.Tree == "" {
		return l
	}
	var back []*conversation.Event
	for e, err := range b.fork.View.Repo.Store.Backward(ctx, conversation.Head(b.fork.At.Commit)) {
		if err != nil {
			l.More = true
			break
		}
		back = append(back, e)
	}
	for _, e := range slices.Backward(back) {
		l.Follow(e)
	}
	return l.Kept()
}

// make makes all of it, or removes the parts again.
func (b *besideTree) make(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			b.remove(context.WithoutCancel(ctx))
		}
	}()
	there, err := b.add(ctx)
	if err != nil {
		return err
	}
	defer there.Close()
	place, err := snapshot.Here(ctx, there)
	if err != nil {
		return err
	}
	if out, err := there.Git.Run(ctx, "ls-files", "-t", "-z"); err == nil {
		b.sparse = strings.Count("\x00"+string(out), "\x00S ")
	}
	if b.withBackups {
		if err := b.bringBackups(); err != nil {
			return fmt.Errorf("bring your untracked files to %s: %w", b.dir, err)
		}
	}
	b.fork.checkedOut = true
	if err := b.fork.Create(ctx, place); err != nil {
		return err
	}
	return there.StartOn(b.fork.ID)
}

// A besideTree is a linked working tree that is being made for a fork.
type besideTree struct {
	fork   *Fork
	dir    string
	branch string // "" for a detached HEAD
	commit string
	made   bool

	unconverted []unconverted
	sparse      int

	withBackups bool
	own         []repo.FileResult // the user's files from a backup
}

// bringBackups writes the user's own files from jp's last copies before the event. Files of the snapshot
// stay.
func (b *besideTree) bringBackups() error {
	r := b.fork.View.Repo
	store := r.Standings().Backups()
	if store == nil {
		return nil
	}
	store, moment, err := store.Last(filepath.Join(r.Paths.StateDir, repo.BackupsFolder), string(b.fork.View.ID), b.fork.At.Seq)
	if moment == nil || err != nil {
		return err
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	written, without, err := store.WriteTo(moment, root)
	b.own = repo.CopyResults(written, without)
	return err
}

func (b *besideTree) linked() linkedTree { return linkedTree{b.fork.View.Repo, b.dir} }

// free is the folder as an absolute path, if it is still empty.
func (b *besideTree) free(word string) (string, error) {
	dir := word
	if !filepath.IsAbs(dir) {
		base, err := filepath.Abs(b.fork.View.Repo.Env.Dir)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, word)
	}
	if ownsFolder(b.fork.View.Repo, dir) {
		return "", problem.Usage("%s is in git's own folder; a worktree stands outside.", word)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return filepath.Clean(dir), nil
	case err == nil:
		f := problem.Usage("%s is not empty; a worktree needs a new folder.", word)
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && info.Mode().IsRegular() {
			f = f.Hint(action.ListWorktrees, "the worktrees there are; "+action.RemoveWorktree.String()+" takes one away, such as that of a fork that was broken off")
		}
		return "", f
	}
	return "", problem.Usage("%s cannot be a worktree: %v.", word, err)
}

// head is the commit under which the event was recorded.
func (b *besideTree) head() (string, error) {
	if b.fork.View.Repo.At.TopLevel == "" {
		return "", problem.Usage("a bare repository has no files to put into a worktree.")
	}
	head := ""
	for _, e := range b.fork.View.Events {
		if e.Seq > b.fork.At.Seq {
			break
		}
		if e.Git != nil {
			head = e.Git.Head
		}
	}
	if head == "" {
		return "", problem.Usage("no commit was recorded at @%d that a worktree could stand on: the branch had none yet.", b.fork.At.Seq).About(b.fork.View.ID).
			Hint(action.ForkAt(b.fork.View.ID.Short(), problem.Itoa(b.fork.At.Seq)), "fork it without a worktree")
	}
	if kind, _, err := b.fork.View.Repo.Store.ReadObject(head); err != nil || kind != "commit" {
		return "", problem.New(problem.ExitNotFound, "not_found", "commit %.10s, on which %s stood at @%d, is not in this repository.", head, b.fork.View.ID, b.fork.At.Seq).About(b.fork.View.ID).
			Hint(action.Fetch, "it may be in another one")
	}
	return head, nil
}

// add makes the working tree, and brings the event's files into it.
func (b *besideTree) add(ctx context.Context) (*repo.Repo, error) {
	words := []string{"worktree", "add", "--quiet", "--detach", b.dir, b.commit}
	if b.branch != "" {
		if err := b.checkBranch(ctx); err != nil {
			return nil, err
		}
		words = []string{"worktree", "add", "--quiet", "-b", b.branch, "--no-track", b.dir, b.commit}
	}
	if err := b.linked().add(ctx, words); err != nil {
		return nil, fmt.Errorf("add a worktree in %s: %w", b.dir, err)
	}
	b.made = true
	if err := b.linked().keepApart(ctx); err != nil {
		return nil, err
	}
	there, err := repo.FindAt(ctx, b.fork.View.Repo.Env, b.dir)
	if err != nil {
		return nil, err
	}
	filtered := gitcmd.At(there.At, b.linked().filters())
	if b.fork.View.Repo.Config.Snapshot.Mode == "off" || b.fork.At.Tree == "" {
		b.unconverted, err = leaveUnconverted(ctx, filtered, there.At, b.commit, b.commit)
		return there, err
	}
	files, err := b.fork.View.Repo.Patches(ctx)
	was := ""
	if err == nil {
		was, err = files.CommitTree(ctx, b.commit, b.fork.View.Repo.Store)
	}
	if err == nil && was != b.fork.At.Tree {
		_, err = filtered.RunWith(ctx, gitcmd.Command{Args: []string{"restore", "--source=" + b.fork.At.Tree, "--worktree", "--", "."}, Env: withPointers})
	}
	if err == nil {
		b.unconverted, err = leaveUnconverted(ctx, filtered, there.At, b.commit, b.fork.At.Tree)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bring the files of @%d to %s: %w", b.fork.At.Seq, b.dir, err), there.Close())
	}
	return there, nil
}

// ownsFolder reports whether a folder, which may not exist yet, is inside of git's.
func ownsFolder(r *repo.Repo, dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if at, err := filepath.EvalSymlinks(dir); err == nil {
			dir = at
			break
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	for _, own := range []string{r.At.CommonDir, r.At.GitDir} {
		at, err := filepath.EvalSymlinks(own)
		if rel, fault := filepath.Rel(at, dir); err == nil && fault == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// checkBranch refuses a text that is not a name of a new branch.
func (b *besideTree) checkBranch(ctx context.Context) error {
	if _, err := b.fork.View.Repo.Git.Run(ctx, "check-ref-format", "--branch", b.branch); err != nil || strings.HasPrefix(b.branch, "-") || strings.Contains(b.branch, "@{") {
		return problem.Usage("-b %q is not a name that a branch can have.", b.branch)
	}
	_, err := b.fork.View.Repo.Git.Run(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+b.branch)
	var none *gitcmd.ExitError
	switch {
	case err == nil:
		return problem.Usage("there is a branch %s already.", b.branch).Hint(action.ListBranches, "the branches there are")
	case errors.As(err, &none):
		return nil
	}
	return err
}

// remove takes the working tree and the fork away again. The error that led here
// is the one to report; git worktree prune cleans up.
func (b *besideTree) remove(ctx context.Context) {
	if b.fork.Head != "" {
		_ = b.fork.View.Repo.Store.Delete(ctx, b.fork.ID, b.fork.Head)
	}
	if !b.made {
		return
	}
	_, _ = b.fork.View.Repo.Git.Run(ctx, "worktree", "remove", "--force", b.dir)
	if b.branch != "" {
		_, _ = b.fork.View.Repo.Git.Run(ctx, "update-ref", "-d", "refs/heads/"+b.branch, b.commit)
	}
}

// WithWorktree makes the fork with a working tree of its own in dir: a linked one at the
// HEAD that was recorded, on a new branch or detached, with the files of the event as
// uncommitted changes, and with the user's own files if withBackups is set.
func (f *Fork) WithWorktree(ctx context.Context, dir, branch string, withBackups bool) (done ForkResult, err error) {
	b := besideTree{fork: f, branch: branch, withBackups: withBackups}
	if b.dir, err = b.free(dir); err != nil {
		return done, err
	}
	if b.commit, err = b.head(); err != nil {
		return done, err
	}
	if err := b.make(ctx); err != nil {
		return done, err
	}
	return ForkResult{Worktree: b.dir, LeftOut: b.leftOut(ctx), Unconverted: b.unconverted, Sparse: b.sparse, Files: b.own}, nil
}
