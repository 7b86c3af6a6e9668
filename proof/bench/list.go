package main

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// listOf measures listing n conversations of three events, all loose, by a
// store that remembers nothing.
func listOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, p filesystem) ([]row, error) {
		repo, err := b.newRepo(ctx, p.Dir)
		if err != nil {
			return nil, err
		}
		if err := b.fillMany(ctx, repo, n); err != nil {
			return nil, err
		}
		all, err := rounds(ctx, b.rng, b.slowOps, []side{
			{name: "jp", block: 3, run: func(ctx context.Context) error { return listAll(ctx, repo, n) }},
			{name: "git for-each-ref", block: 3, run: func(ctx context.Context) error { return eachRef(ctx, repo) }},
		})
		if err != nil {
			return nil, err
		}
		r := all.row(fmt.Sprintf("list %s conversations", grouped(n)), "jp", "git for-each-ref").grows(workList, n)
		if n == 10_000 {
			r = r.within(1)
		}
		return []row{r}, nil
	}
}

// eachRefArgs list the conversations by git, with what jp ls shows of them.
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
