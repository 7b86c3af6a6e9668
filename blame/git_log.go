package blame

import (
	"context"
	"errors"
	"strings"

	"jp/agent/repo"
	"jp/gitcmd"
	"jp/internal/safetext"
)

// Ground is the tree that the conversation's first event found: of the commit
// that it branched off, or the empty tree.
func Ground(ctx context.Context, v *repo.View) (string, error) {
	tree, err := revision(ctx, v.Repo, v.Events[0].Commit+"^^{tree}")
	if err == nil && tree == "" {
		tree = v.Repo.Git.Repository().ObjectFormat.EmptyTree()
	}
	return tree, err
}

// revision is the object that git finds for a name, or "".
func revision(ctx context.Context, r *repo.Repo, name string) (string, error) {
	out, err := r.Git.Run(ctx, "rev-parse", "--verify", "--quiet", name)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// GitLog is the git command that shows the commits of the entries, which are not empty, and those between
// them. It starts git to see whether the first one has a parent.
func GitLog(ctx context.Context, v *repo.View, entries []Entry, o LogOptions) (string, error) {
	first, last := entries[0].Event, entries[len(entries)-1].Event
	if first.Seq > last.Seq {
		first, last = last, first
	}
	to := shortCommit(last.Commit)
	if last.Seq == v.Newest().Seq {
		to = repo.RefOf(v.ID)
	}
	parent, err := revision(ctx, v.Repo, first.Commit+"^")
	if err != nil {
		return "", err
	}
	if parent != "" {
		to = shortCommit(first.Commit) + "^.." + to
	}
	argv := []string{"git", "log", "--oneline", "--first-parent"}
	argv = append(argv, o.gitFlags()...)
	argv = append(argv, to)
	if len(o.Paths) > 0 {
		argv = append(append(argv, "--"), o.Paths...)
	}
	return safetext.EscapeAll(argv), nil
}

func (o LogOptions) gitFlags() []string {
	var flags []string
	if o.Reverse {
		flags = append(flags, "--reverse")
	}
	if o.Patch {
		return append(flags, "--patch")
	}
	if o.Stat {
		flags = append(flags, "--stat")
	}
	return flags
}

// shortCommit is the beginning of a commit's id, long enough to be the only one.
func shortCommit(commit string) string { return commit[:min(12, len(commit))] }
