package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/internal/leftover"
	"jp/process"
	"jp/worktree"
)

// fix removes files without an owner, with --fix, before all other checks: the locks
// that it takes are its own.
func (c *checkup) fix(ctx context.Context) {
	if !c.Fix {
		return
	}
	found := c.leftovers(ctx)
	remover := leftover.Remover{
		Place: c.place(ctx), Locks: c.repo.Locks, LockTree: c.lockTree, Tracked: c.tracked,
		Holder: process.Holder{PID: os.Getpid(), Start: process.StartOf(os.Getpid()), Started: c.env.Now().UTC(), Session: c.repo.Session(c.env).Name},
	}
	c.kept = map[string]error{}
	for _, v := range remover.Remove(ctx, found.Files) {
		if v.Err != nil {
			c.kept[v.Path] = v.Err
			continue
		}
		c.removed = append(c.removed, RemovedJSON{Kind: string(v.Kind), Path: v.Path, Age: seconds(v.Age)})
	}
	// Every reading of the registry removes the entries of processes that ended.
	registry, ok := c.repo.States().ToldRegistry()
	if !ok || len(found.Stale) == 0 {
		return
	}
	_, _ = registry.Live(ctx) // the next check finds the entries that cannot be removed
	left, _ := c.stale()
	for _, e := range found.Stale {
		if !slices.ContainsFunc(left, func(l Entry) bool { return l.ID == e.ID }) {
			c.removed = append(c.removed, RemovedJSON{Kind: "entry", Path: filepath.Join(registry.Folder(), string(e.ID)+".json"), Age: seconds(e.Age)})
		}
	}
}

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// lockTree keeps every other jp from changing files of the working tree.
func (c *checkup) lockTree(ctx context.Context) (unlock func(), err error) {
	if c.repo.At.TopLevel == "" {
		return func() {}, nil // there is no lock to take
	}
	tree, err := worktree.Open(ctx, c.repo.At, worktree.Options{})
	if err != nil {
		return nil, err
	}
	return tree.LockMutation(ctx)
}

// tracked reports whether git tracks a file of the working tree.
func (c *checkup) tracked(ctx context.Context, path string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(c.repo.At.GitDir, "index")); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	rest, err := filepath.Rel(c.repo.At.TopLevel, path)
	if err != nil {
		return false, err
	}
	out, err := c.repo.Git.Run(ctx, "ls-files", "-z", "--", filepath.ToSlash(rest))
	return strings.TrimRight(string(out), "\x00") != "", err
}
