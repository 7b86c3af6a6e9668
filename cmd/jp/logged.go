package main

import (
	"context"
	"errors"
	"strings"

	"jp/gitcmd"
	"jp/internal/safetext"
	"jp/worktree"
)

// ground is the tree that the conversation's first event found: of the commit
// that it branched off, or the empty tree.
func (v *view) ground(ctx context.Context) (string, error) {
	tree, err := v.repo.revision(ctx, v.events[0].Commit+"^^{tree}")
	if err == nil && tree == "" {
		tree = worktree.EmptyTree
	}
	return tree, err
}

// revision is the object that git finds for a name, "" where there is none.
func (r *repo) revision(ctx context.Context, name string) (string, error) {
	out, err := r.git.Run(ctx, "rev-parse", "--verify", "--quiet", name)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// gitLog is the git command that shows the commits of the entries, and those
// between them. It starts git to see whether the first one has a parent.
func (v *view) gitLog(ctx context.Context, entries []entry, o logOptions) (string, error) {
	if len(entries) == 0 {
		return "git log --first-parent --max-count=0 " + refOf(v.id), nil
	}
	first, last := entries[0].event, entries[len(entries)-1].event
	if first.Seq > last.Seq {
		first, last = last, first
	}
	to := short(last.Commit)
	if last == v.events[len(v.events)-1] {
		to = refOf(v.id)
	}
	parent, err := v.repo.revision(ctx, first.Commit+"^")
	if err != nil {
		return "", err
	}
	if parent != "" {
		to = short(first.Commit) + "^.." + to
	}
	argv := []string{"git", "log", "--oneline", "--first-parent"}
	argv = append(argv, o.gitFlags()...)
	argv = append(argv, to)
	if len(o.paths) > 0 {
		argv = append(append(argv, "--"), o.paths...)
	}
	return safetext.EscapeAll(argv), nil
}

func (o logOptions) gitFlags() []string {
	var flags []string
	if o.reverse {
		flags = append(flags, "--reverse")
	}
	if o.patch {
		return append(flags, "--patch")
	}
	if o.stat {
		flags = append(flags, "--stat")
	}
	return flags
}

// short is the beginning of a commit's id, long enough to be the only one.
func short(commit string) string { return commit[:min(12, len(commit))] }
