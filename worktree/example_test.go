package worktree_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// A snapshot before and one after a tool show the tool's changes.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opts := gitcmd.Options{Environ: gitenv.Env(filepath.Join(dir, "home"))}
	top := filepath.Join(dir, "repository")
	if _, err := gitcmd.New(dir, opts).Run(ctx, "init", "-q", top); err != nil {
		log.Fatal(err)
	}
	repo, err := gitcmd.Locate(ctx, top, opts)
	if err != nil {
		log.Fatal(err)
	}
	w, err := worktree.Open(ctx, repo, worktree.Options{Git: opts})
	if err != nil {
		log.Fatal(err)
	}

	before, err := w.Snapshot(ctx, w.Repository().ObjectFormat.EmptyTree(), worktree.SnapshotOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mark, err := w.Now(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "hello.txt"), []byte("hello\nworld\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	after, err := w.Snapshot(ctx, before.Tree, worktree.SnapshotOptions{Since: &mark, Untracked: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range after.Changes {
		fmt.Printf("%s %s +%d -%d\n", c.Status, c.Path, c.Added, c.Deleted)
	}
	// Output: A hello.txt +2 -0
}
