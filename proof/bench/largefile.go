package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
	"jp/gitstore/odb"
)

// Sizes and the target of the row of a large file that changes a little in each turn.
const (
	largeFileSize   = 40 << 20
	largeFileTurns  = 20
	largeFileTarget = 85e6            // bytes that the repository grows by
	packingTime     = 5 * time.Minute // for one background pack
)

// changeLarge changes 4 KB of the large file, at another place in each turn.
const changeLarge = `name = "shell_run"
arguments = { argv = ["dd", "if=/dev/urandom", "of=large", "conv=notrunc", "bs=4096", "count=1", "seek=%d", "status=none"] }`

// measureLargeFile measures by how much a repository grows if a tool changes a few bytes of a
// large tracked file in each turn, and jp packs in the background. The rival keeps each version whole.
func measureLargeFile(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	c, err := b.newToolCalls(ctx, 1)
	if err != nil {
		return nil, err
	}
	if err := commitLarge(ctx, c.repo); err != nil {
		return nil, err
	}
	before, err := lengths(objectsOf(c.repo))
	if err != nil {
		return nil, err
	}
	var ours, whole []float64
	var turns [][]string
	for i := range largeFileTurns {
		turns = append(turns, []string{fmt.Sprintf(changeLarge, 500*i)})
	}
	where := "--new"
	for range turns {
		ask, err := c.ask("change", turns, where)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(ask(ctx), awaitPacking(ctx, c.repo)); err != nil {
			return nil, err
		}
		ref, err := git(ctx, c.repo.TopLevel, "for-each-ref", "--format=%(refname)", "refs/jp/conversations/")
		if err != nil {
			return nil, err
		}
		where = "--id=" + path.Base(ref)
		grown, err := lengths(objectsOf(c.repo))
		if err != nil {
			return nil, err
		}
		ours, whole = append(ours, float64(grown-before)), append(whole, float64(len(whole)+1)*largeFileSize)
	}
	r := sized(largeFileNames, "whole versions", ours, whole).within(largeFileTarget)
	r.JP, r.Rival, r.Alone = ours[len(ours)-1], whole[len(whole)-1], true
	return []row{r}, nil
}

// commitLarge adds an incompressible file.
func commitLarge(ctx context.Context, repo gitcmd.Repository) error {
	text := make([]byte, largeFileSize)
	if _, err := rand.Read(text); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo.TopLevel, "large"), text, 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "large"}, {"commit", "-qm", "large"}} {
		if _, err := git(ctx, repo.TopLevel, args...); err != nil {
			return err
		}
	}
	return nil
}

// awaitPacking waits until jp's packing in the background has ended, and no further one is due.
func awaitPacking(ctx context.Context, repo gitcmd.Repository) error {
	ctx, cancel := context.WithTimeout(ctx, packingTime)
	defer cancel()
	store, err := openStore(repo, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	packer := store.Packer()
	for packer.Due() || packer.Heavy(time.Time{}) || packs(repo) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("jp has not packed: %w", context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// packs reports whether a process packs in the repository.
func packs(repo gitcmd.Repository) bool {
	f, err := os.Open(filepath.Join(repo.CommonDir, "jp", "packing.lock"))
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}
