package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// Limits for a list, as parts of the time of git for-each-ref: without jp's caches, and with them.
const (
	coldListTarget = 1
	warmListTarget = 0.3
)

// listDoubt is how young a file may be for a list to look at it anew, with some to spare.
const listDoubt = 3 * time.Second

// listRounds are few, since a list without caches is long.
const listRounds = 6

// eachRefName is the rival of a list.
const eachRefName = "for-each-ref, CPU"

// listsOf measures the processor time of commands that look at all of n conversations, each in
// the state in which its last process left it.
func listsOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		jp, err := b.buildJP(ctx)
		if err != nil {
			return nil, err
		}
		repo, err := b.newRepo(ctx, b.scratch)
		if err != nil {
			return nil, err
		}
		if err := b.fillIdle(ctx, repo, n); err != nil {
			return nil, err
		}
		if err := listsAll(ctx, jp, repo, n); err != nil {
			return nil, err
		}
		select { // as it is after a while
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(listDoubt):
		}
		dir := repo.TopLevel
		cold := processorSide("cold", dir, jp, "ls")
		cold.prepare = func() error { return os.RemoveAll(filepath.Join(repo.CommonDir, "jp", "lists")) }
		all, err := rounds(ctx, b.rng, listRounds, []side{
			cold, processorSide("warm", dir, jp, "ls"), processorSide("few", dir, jp, "ls", "-n", "5"), processorSide("status", dir, jp, "status"),
			processorSide(eachRefName, dir, "git", eachRefArgs...), processorSide(startOfJP, dir, jp, "version"),
		})
		if err != nil {
			return nil, err
		}
		return listRows(n, all), nil
	}
}

func listRows(n int, all timings) []row {
	size := grouped(n)
	cold := all.row("jp ls of "+size+", without caches", "cold", eachRefName).grows(workList, n)
	warm := all.row("jp ls of "+size+", with caches", "warm", eachRefName).grows(workWarmList, n)
	if n == 10_000 {
		cold, warm = cold.within(coldListTarget), warm.within(warmListTarget)
	}
	return []row{
		cold, warm,
		all.row("jp ls -n 5 of "+size, "few", startOfJP).withinMore(endTarget).grows(workFewListed, n),
		all.row("jp status, one of "+size, "status", startOfJP).withinMore(endTarget).grows(workStatusOf, n),
	}
}

// listsAll fails if a list has another number of conversations than n.
func listsAll(ctx context.Context, jp string, repo gitcmd.Repository, n int) error {
	cmd := exec.CommandContext(ctx, jp, "ls", "--format", "jsonl")
	cmd.Dir = repo.TopLevel
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("jp ls: %w", err)
	}
	if found := bytes.Count(out, []byte("\n")); found != n {
		return fmt.Errorf("jp ls: %d conversations instead of %d", found, n)
	}
	return nil
}

// eachRefArgs list the conversations by git, with the columns of jp ls.
var eachRefArgs = []string{"for-each-ref", "--format=%(refname) %(objectname) %(committerdate) %(subject)", "refs/jp/conversations/"}

func eachRef(ctx context.Context, repo gitcmd.Repository) error {
	return gitTo(ctx, repo.TopLevel, nil, nil, eachRefArgs...)
}

func (b *bench) fillMany(ctx context.Context, repo gitcmd.Repository, n int) error {
	store, err := openStore(repo, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	for i := range n {
		m := newMix(b.corpus, 1)
		m.at = i * 4096 % len(b.corpus) // each says something else
		if _, err := store.Create(ctx, conversationID(i), "", m.take(3)); err != nil {
			return err
		}
	}
	return nil
}

// listAll lists n conversations by a fresh store.
func listAll(ctx context.Context, repo gitcmd.Repository, n int) error {
	store, err := openStore(repo, odb.Full)
	if err != nil {
		return err
	}
	defer store.Close()
	infos, err := store.List(ctx, conversation.ScopeLive)
	if err == nil && len(infos) != n {
		err = fmt.Errorf("%d conversations instead of %d", len(infos), n)
	}
	return err
}
