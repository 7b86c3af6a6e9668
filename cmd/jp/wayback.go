package main

import (
	"context"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/reconcile"
)

// wayBack are the commands that lead to where the turn stopped, in the order in which
// they are typed; none where no command of git's or cd does. last is where HEAD was then.
func (r *repo) wayBack(ctx context.Context, last conversation.Git, differences []reconcile.Difference) (way []hint) {
	for _, d := range differences {
		switch d.What {
		case "branch":
			way = r.switchBack(ctx, d.Was, last.Head)
		case "worktree":
			if dir := r.worktreeDir(d.Was); dir != "" && d.Is != d.Was+reconcile.MadeAnew {
				return []hint{{Command: "cd " + safetext.Escape(dir), Text: goBack}}
			}
			return nil
		case "repository", "in progress":
			return nil
		}
	}
	return way
}

const goBack = "go back there"

// switchBack leads to a branch, or to a detached HEAD where the name is "", that was at a
// commit. git switches to no branch that is gone, nor to one that another working tree has.
func (r *repo) switchBack(ctx context.Context, branch, commit string) []hint {
	if branch == "" {
		if !r.hasCommit(ctx, commit) {
			return nil
		}
		return []hint{{Command: "git switch --detach " + commit, Text: goBack}}
	}
	there, holder := r.branchNow(ctx, branch)
	name := safetext.Escape(branch)
	switch {
	case there && holder != "":
		return []hint{
			{Command: "git -C " + safetext.Escape(holder) + " switch --detach", Text: "frees " + safetext.Show(branch) + ", which that working tree has"},
			{Command: "git switch " + name, Text: "then " + goBack},
		}
	case there:
		return []hint{{Command: "git switch " + name, Text: goBack}}
	case r.hasCommit(ctx, commit):
		return []hint{{Command: "git switch -c " + name + " " + commit, Text: "make the branch again, which is gone, and " + goBack}}
	}
	return nil
}

// branchNow reports whether a branch is there, and the other working tree that has it
// checked out, "" for none.
func (r *repo) branchNow(ctx context.Context, branch string) (there bool, holder string) {
	ref := "refs/heads/" + branch
	out, err := r.git.Run(ctx, "for-each-ref", "--format=%(refname)%00%(worktreepath)%00", ref)
	if err != nil {
		return false, ""
	}
	name, rest, _ := strings.Cut(string(out), "\x00") // those in a folder of the name can only stand alone
	holder, _, _ = strings.Cut(rest, "\x00")
	if name != ref {
		return false, ""
	}
	return true, holder
}

func (r *repo) hasCommit(ctx context.Context, commit string) bool {
	if commit == "" {
		return false
	}
	_, err := r.git.Run(ctx, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}
