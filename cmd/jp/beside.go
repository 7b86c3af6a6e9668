package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/leftover"
	"jp/internal/wholefile"
)

// leftOut are the files that tools changed until then, and that no snapshot has. What is
// damaged is not read: they are then not all.
func (b *besideTree) leftOut(ctx context.Context) (l unseen) {
	if b.repo.config.Snapshot.Mode == "off" || b.at.Tree == "" {
		return l
	}
	var back []*conversation.Event
	for e, err := range b.repo.store.Back(ctx, conversation.Head(b.at.Commit)) {
		if err != nil {
			l.more = true
			break
		}
		back = append(back, e)
	}
	for _, e := range slices.Backward(back) {
		l.follow(e)
	}
	return l.kept()
}

// make makes all of it, or takes away again what there is.
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
	place, err := there.here(ctx)
	if err != nil {
		return err
	}
	b.checkedOut = true
	if err := b.create(ctx, place); err != nil {
		return err
	}
	return there.startOn(b.id)
}

// A besideTree is a linked working tree that is being made for a fork.
type besideTree struct {
	*fork
	dir    string
	branch string // "" for a detached HEAD
	commit string
	made   bool

	unconverted []unconverted
}

// free is the folder as an absolute path, if there is nothing in it yet.
func (b *besideTree) free(word string) (string, error) {
	dir := word
	if !filepath.IsAbs(dir) {
		base, err := filepath.Abs(b.repo.env.dir)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, word)
	}
	if b.repo.ownsFolder(dir) {
		return "", usage("%s is in git's own folder; a worktree stands outside.", word)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return filepath.Clean(dir), nil
	case err == nil:
		f := usage("%s is not empty; a worktree needs a new folder.", word)
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && info.Mode().IsRegular() {
			f = f.hint("git worktree list", "the worktrees there are; git worktree remove takes one away, such as that of a fork that was broken off")
		}
		return "", f
	}
	return "", usage("%s cannot be a worktree: %v.", word, err)
}

// head is the commit under which the event was recorded.
func (b *besideTree) head() (string, error) {
	if b.repo.TopLevel == "" {
		return "", usage("a bare repository has no files to put into a worktree.")
	}
	head := ""
	for _, e := range b.events {
		if e.Seq > b.at.Seq {
			break
		}
		if e.Git != nil {
			head = e.Git.Head
		}
	}
	if head == "" {
		return "", usage("no commit was recorded at @%d that a worktree could stand on: the branch had none yet.", b.at.Seq).about(b.view.id).
			hint("jp fork "+b.view.id.Short()+"@"+itoa(b.at.Seq), "fork it without a worktree")
	}
	if kind, _, err := b.repo.store.ReadObject(head); err != nil || kind != "commit" {
		return "", fail(exitNotFound, "not_found", "commit %.10s, on which %s stood at @%d, is not in this repository.", head, b.view.id, b.at.Seq).about(b.view.id).
			hint("git fetch", "it may be in another one")
	}
	return head, nil
}

// add makes the working tree, and brings the event's files into it.
func (b *besideTree) add(ctx context.Context) (*repo, error) {
	words := []string{"worktree", "add", "--quiet", "--detach", b.dir, b.commit}
	if b.branch != "" {
		if err := b.checkBranch(ctx); err != nil {
			return nil, err
		}
		words = []string{"worktree", "add", "--quiet", "-b", b.branch, "--no-track", b.dir, b.commit}
	}
	if err := b.run(ctx, words); err != nil {
		return nil, fmt.Errorf("add a worktree in %s: %w", b.dir, err)
	}
	b.made = true
	there, err := findRepoAt(ctx, b.repo.env, b.dir)
	if err != nil {
		return nil, err
	}
	filtered := gitcmd.At(there.Repository, b.filters())
	if b.repo.config.Snapshot.Mode == "off" || b.at.Tree == "" {
		b.unconverted, err = leaveUnconverted(ctx, filtered, there.Repository, b.commit, b.commit)
		return there, err
	}
	changed, err := there.git.Run(ctx, "diff-tree", "-r", "--name-only", "-z", b.commit, b.at.Tree)
	if err == nil && len(changed) > 0 {
		_, err = filtered.RunWith(ctx, gitcmd.Command{Args: []string{"restore", "--source=" + b.at.Tree, "--worktree", "--", "."}, Env: withPointers})
	}
	if err == nil {
		b.unconverted, err = leaveUnconverted(ctx, filtered, there.Repository, b.commit, b.at.Tree)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bring the files of @%d to %s: %w", b.at.Seq, b.dir, err), there.Close())
	}
	return there, nil
}

// run lets git make the working tree. Of one that it could not make, now or at an
// earlier time, nothing stays: git takes it away itself, but not where it was killed
// or cannot write, and then hardly any git command works in the repository.
func (b *besideTree) run(ctx context.Context, words []string) error {
	for _, note := range leftover.HalfWorktrees(b.repo.CommonDir) {
		_ = leftover.ForgetWorktree(b.repo.CommonDir, note) // jp doctor tells of it
	}
	note, end, err := leftover.MakingWorktree(b.repo.own(), b.dir)
	if err != nil {
		return err
	}
	if _, err = gitcmd.At(b.repo.Repository, b.filters()).RunWith(ctx, gitcmd.Command{Args: words, Files: []*os.File{note}, Env: withPointers}); err == nil {
		end()
		return nil
	}
	if leftover.ForgetHalf(b.repo.CommonDir, b.dir) == nil {
		end()
	}
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && strings.Contains(exit.Stderr, "already registered worktree") {
		return usage("git still knows a worktree in %s, which is gone.", b.dir).hint("git worktree prune", "lets git forget it")
	}
	return err
}

// ownsFolder says whether a folder, that may not be there yet, is in git's.
func (r *repo) ownsFolder(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if at, err := filepath.EvalSymlinks(dir); err == nil {
			dir = at
			break
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	for _, own := range []string{r.CommonDir, r.GitDir} {
		at, err := filepath.EvalSymlinks(own)
		if rel, fault := filepath.Rel(at, dir); err == nil && fault == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// checkBranch refuses what is no name of a new branch.
func (b *besideTree) checkBranch(ctx context.Context) error {
	if _, err := b.repo.git.Run(ctx, "check-ref-format", "--branch", b.branch); err != nil || strings.HasPrefix(b.branch, "-") || strings.Contains(b.branch, "@{") {
		return usage("-b %q is not a name that a branch can have.", b.branch)
	}
	_, err := b.repo.git.Run(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+b.branch)
	var none *gitcmd.ExitError
	switch {
	case err == nil:
		return usage("there is a branch %s already.", b.branch).hint("git branch -a", "the branches there are")
	case errors.As(err, &none):
		return nil
	}
	return err
}

// remove takes the working tree and the fork away again. The error that led here
// is the one to report; git worktree prune cleans up.
func (b *besideTree) remove(ctx context.Context) {
	if b.fork.head != "" {
		_ = b.repo.store.Delete(ctx, b.id, b.fork.head)
	}
	if !b.made {
		return
	}
	_, _ = b.repo.git.Run(ctx, "worktree", "remove", "--force", b.dir)
	if b.branch != "" {
		_, _ = b.repo.git.Run(ctx, "update-ref", "-d", "refs/heads/"+b.branch, b.commit)
	}
}

// startFile names the conversation on which a worktree's sessions start.
func (r *repo) startFile() string { return filepath.Join(r.GitDir, "jp-start") }

// startOn makes every session of the worktree start on a conversation.
func (r *repo) startOn(id conversation.ID) error {
	return wholefile.Replace(r.startFile(), []byte(string(id)+"\n"), wholefile.Options{Mode: 0o666})
}

// startsOn is the conversation on which sessions start here, "" for none.
func (r *repo) startsOn() conversation.ID {
	word, err := readWord(r.startFile())
	if err != nil {
		return ""
	}
	id, err := conversation.ParseID(word)
	if err != nil {
		return ""
	}
	return id
}

// withWorktree makes the fork with a working tree of its own in dir: a linked one at the
// HEAD that was recorded, on a new branch or detached, with the files of the event as
// uncommitted changes.
func (f *fork) withWorktree(ctx context.Context, dir, branch string) (done forkResult, err error) {
	b := besideTree{fork: f, branch: branch}
	if b.dir, err = b.free(dir); err != nil {
		return done, err
	}
	if b.commit, err = b.head(); err != nil {
		return done, err
	}
	if err := b.make(ctx); err != nil {
		return done, err
	}
	return forkResult{worktree: b.dir, leftOut: b.leftOut(ctx), unconverted: b.unconverted}, nil
}
