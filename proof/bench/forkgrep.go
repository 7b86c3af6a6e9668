package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// Targets of a search in a conversation and its forks: how much more than in the
// conversation alone it may take.
const (
	forksGrepTarget  = 1.5 // of the CPU
	forksCacheTarget = 1.3 // of the bytes of the cache
)

// searchedForks is how many forks a conversation has.
const searchedForks = 10

// oneConversation is the rival: the same search without forks.
const oneConversation = "1 conversation"

// grepForksOf measures jp in a conversation of n events and its forks, against itself in a
// repository with the conversation only.
func grepForksOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		jp, err := b.buildJP(ctx)
		if err != nil {
			return nil, err
		}
		if err := keepStoreKey(); err != nil {
			return nil, err
		}
		one, forks, err := b.forkedRepos(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("make forks of %d events: %w", n, err)
		}
		places := map[string]*greps{"jp": {jp: jp, repo: forks}, oneConversation: {jp: jp, repo: one}}
		all, err := b.processorTimes(ctx, places)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%d forks of %s events", searchedForks, grouped(n))
		grep := all.row("grep "+name, "jp", oneConversation)
		var sizes [2][]float64
		for i, repo := range []gitcmd.Repository{forks, one} {
			size, err := lengths(filepath.Join(repo.CommonDir, "jp", "cache"))
			if err != nil {
				return nil, err
			}
			sizes[i] = []float64{float64(size)}
		}
		cache := sized("search cache, "+name, oneConversation, sizes[0], sizes[1])
		if n >= flatFrom { // each fork has up to 256 events of its own
			grep, cache = grep.within(forksGrepTarget), cache.within(forksCacheTarget)
		}
		return []row{grep, cache}, nil
	}
}

// processorTimes searches in turn in each place, and returns the processor times. The first three searches
// make the sidecars, and their missing parts.
func (b *bench) processorTimes(ctx context.Context, places map[string]*greps) (timings, error) {
	all := timings{}
	for round := range 3 + b.processes {
		for name, g := range places {
			took, err := processorTime(exec.CommandContext(ctx, g.jp, g.searchArgs(soughts[0])...), g.repo.TopLevel)
			if err != nil {
				return nil, err
			}
			if round >= 3 {
				all[name] = append(all[name], []time.Duration{took})
			}
		}
	}
	return all, nil
}

// forkedRepos are a repository with a conversation of n events, and a copy of it with forks of
// that, at its end and at events before that.
func (b *bench) forkedRepos(ctx context.Context, n int) (one, forks gitcmd.Repository, err error) {
	events := newMix(b.corpus, 1).take(n)
	for _, e := range events {
		if body, ok := e.Body.(*conversation.ToolCallResponse); ok {
			body.Content += "\n" + planted + "\n"
			break
		}
	}
	if one, err = b.newRepo(ctx, b.scratch); err != nil {
		return one, forks, err
	}
	id := conversationID(0)
	if err := packed(ctx, one, func(store *gitstore.Store) error {
		_, err := store.Create(ctx, id, "", events)
		return err
	}); err != nil {
		return one, forks, err
	}
	dir, err := b.newDir(b.scratch)
	if err != nil {
		return one, forks, err
	}
	if err := os.CopyFS(filepath.Join(dir, ".git"), os.DirFS(one.CommonDir)); err != nil {
		return one, forks, err
	}
	if forks, err = gitcmd.Locate(ctx, dir, gitcmd.Options{}); err != nil {
		return one, forks, err
	}
	return one, forks, packed(ctx, forks, func(store *gitstore.Store) error {
		for i := range searchedForks {
			at := events[n-1-i*n/(2*searchedForks)]
			origin := &conversation.Event{
				Seq: at.Seq + 1, Turn: at.Turn, Time: at.Time.Add(time.Duration(i+1) * time.Hour), Model: model,
				Body: &conversation.ForkOrigin{Conversation: id, Seq: at.Seq, Commit: at.Commit},
			}
			if _, err := store.Fork(ctx, id, conversation.Head(at.Commit), conversationID(i+1), origin); err != nil {
				return err
			}
		}
		return nil
	})
}

// packed puts the objects of a write into packs.
func packed(ctx context.Context, repo gitcmd.Repository, write func(*gitstore.Store) error) error {
	store, err := openStore(repo, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	return gitstore.Collection{Store: store}.Do(ctx, func() error { return write(store) })
}
