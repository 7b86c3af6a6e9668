package resume

import (
	"context"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/reconcile"
)

// WayBack are the commands that lead to the place of the turn's end, in the order of typing, if commands of
// git and cd can. last is the place of HEAD then.
func WayBack(ctx context.Context, r *repo.Repo, last conversation.Git, differences []reconcile.Difference) (way []problem.Hint) {
	for _, d := range differences {
		switch d.What {
		case "branch":
			way = switchBack(ctx, r, d.Was, last.Head)
		case "worktree":
			if dir := r.WorktreeDir(d.Was); dir != "" && d.Is != d.Was+reconcile.MadeAnew {
				return []problem.Hint{{Action: action.ChangeDir(dir), Text: goBack}}
			}
			return nil
		case "repository", "in progress":
			return nil
		}
	}
	return way
}

const goBack = "go back there"

// switchBack leads to a branch that was at a commit, or to a detached HEAD for the name "". git refuses to
// switch to a missing branch, and to one that another working tree has.
func switchBack(ctx context.Context, r *repo.Repo, branch, commit string) []problem.Hint {
	if branch == "" {
		if !r.HasCommit(commit) {
			return nil
		}
		return []problem.Hint{{Action: action.SwitchDetached(commit), Text: goBack}}
	}
	there, holder := branchNow(ctx, r, branch)
	switch {
	case there && holder != "":
		return []problem.Hint{
			{Action: action.FreeBranch(holder), Text: "frees " + safetext.Show(branch) + ", which that working tree has"},
			{Action: action.Switch(branch), Text: "then " + goBack},
		}
	case there:
		return []problem.Hint{{Action: action.Switch(branch), Text: goBack}}
	case r.HasCommit(commit):
		return []problem.Hint{{Action: action.SwitchNew(branch, commit), Text: "make the branch again, which is gone, and " + goBack}}
	}
	return nil
}

// branchNow reports whether a branch is there, and the other working tree that has it checked out, or "".
func branchNow(ctx context.Context, r *repo.Repo, branch string) (there bool, holder string) {
	ref := "refs/heads/" + branch
	out, err := r.Git.Run(ctx, "for-each-ref", "--format=%(refname)%00%(worktreepath)%00", ref)
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
