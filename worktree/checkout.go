package worktree

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// CheckedOut is what a checkout changes in files as commit from has them where HEAD goes
// to commit to. Of what to stands on, with its first parents, it is the newest commit made
// before the time (in whole seconds, and not in that second or the one before): those made
// since were made of the files, and not the files of them. Commits that are not here
// change nothing.
func (w *Worktree) CheckedOut(ctx context.Context, from, to string, since time.Time) ([]Step, error) {
	was, err := w.treeOf(ctx, from)
	if err != nil || was == "" {
		return nil, err
	}
	is, err := w.treeOf(ctx, to, "--first-parent", fmt.Sprintf("--min-age=%d", max(0, since.Unix()-2)))
	if err != nil || is == "" {
		return nil, err
	}
	steps, err := w.Trail(ctx, []string{was, is})
	if err != nil {
		return nil, err
	}
	return steps[0], nil
}

// treeOf is the tree of the newest commit that a commit stands on and the options admit,
// "" where there is none here.
func (w *Worktree) treeOf(ctx context.Context, commit string, options ...string) (string, error) {
	args := append([]string{"rev-list", "--no-commit-header", "--format=%T", "--ignore-missing", "--max-count=1"}, options...)
	out, err := w.git.Run(ctx, append(args, "--end-of-options", commit, "--")...)
	if err != nil && ctx.Err() == nil {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}
