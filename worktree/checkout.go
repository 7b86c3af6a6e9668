package worktree

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CheckedOut is what checkouts can have changed in files as commit from has them where
// HEAD went to commit to: what each of the newest commits that to stands on, and that were
// made before the time, has otherwise. Those that were made since were made of the files,
// and not the files of them; their dates say so, in whole seconds. Commits that are not
// here change nothing.
func (w *Worktree) CheckedOut(ctx context.Context, from, to string, since time.Time) ([]Step, error) {
	was, err := w.treeOf(ctx, from)
	if err != nil || was == "" {
		return nil, err
	}
	found, err := w.standsOn(ctx, to, since)
	if err != nil {
		return nil, err
	}
	var trees []string
	for _, commit := range found {
		tree, err := w.treeOf(ctx, commit)
		if err != nil {
			return nil, err
		}
		if tree != "" {
			trees = append(trees, was, tree)
		}
	}
	steps, err := w.Trail(ctx, trees)
	if notHere(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Step
	for i := 0; i < len(steps); i += 2 {
		all = append(all, steps[i]...)
	}
	return all, nil
}

// standsOn are the newest commits made before a time that a commit stands on, or is.
func (w *Worktree) standsOn(ctx context.Context, commit string, since time.Time) ([]string, error) {
	age := strconv.FormatInt(max(0, since.Unix()), 10)
	out, err := w.git.Run(ctx, "rev-list", "--parents", "--ignore-missing", "--max-age="+age, "--end-of-options", commit, "--")
	if err != nil {
		return nil, ctx.Err() // it is not here
	}
	young, parents := map[string]bool{}, map[string]bool{commit: true}
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		young[names[0]] = true
		for _, parent := range names[1:] {
			parents[parent] = true
		}
	}
	maps.DeleteFunc(parents, func(name string, _ bool) bool { return young[name] })
	return slices.Sorted(maps.Keys(parents)), nil
}

// treeOf is the tree of a commit, "" for one that is not here.
func (w *Worktree) treeOf(ctx context.Context, commit string) (string, error) {
	out, err := w.git.Run(ctx, "rev-list", "--no-commit-header", "--format=%T", "--ignore-missing", "--max-count=1", "--end-of-options", commit, "--")
	if err != nil {
		return "", ctx.Err()
	}
	return strings.TrimSpace(string(out)), nil
}
