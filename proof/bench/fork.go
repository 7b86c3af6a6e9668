package main

import (
	"context"
	"fmt"
	"time"

	"jp/gitstore"
	"jp/gitstore/odb"
)

// forkTarget is of the time of git update-ref, which does not flush: it holds on a file system where a fork
// waits for one flush. Elsewhere a fork is an append, to a ref of its own.
const forkTarget = 0.5

// forkOf measures a durable fork in process at the end of n events, by a store
// that is opened anew for each block: the first fork of a block, which reads the
// source, warms up.
func forkOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, p filesystem) ([]row, error) {
		h, err := b.historyOn(ctx, p, n)
		if err != nil {
			return nil, err
		}
		if err := b.use(ctx, h.loose); err != nil {
			return nil, err
		}
		f := &forks{h: h}
		defer f.close()
		dir, err := b.newDir(p.Dir)
		if err != nil {
			return nil, err
		}
		lines, end, err := b.linesIn(dir)
		defer end()
		if err != nil {
			return nil, err
		}
		all, err := rounds(ctx, b.rng, b.shortOps, []side{
			{name: "jp", block: 9, begin: f.open, run: f.fork},
			{name: updateRef, block: 9, run: f.updateRef},
			lines,
		})
		if err != nil {
			return nil, err
		}
		return forkRows(all, p, n), nil
	}
}

func forkRows(all timings, p filesystem, n int) []row {
	name := fmt.Sprintf("fork at %s events, in process", grouped(n))
	moved, appended := all.row(name, "jp", updateRef).grows(workForkLoose, n), all.row(name, "jp", appendJSONL)
	if p.Path == odb.PathOrdered {
		return []row{moved.within(forkTarget), appended}
	}
	return []row{moved, appended.within(appendTarget(p))}
}

// forks makes copies of one conversation.
type forks struct {
	h     *history
	store *gitstore.Store
	made  int
}

func (f *forks) open() error {
	f.close()
	var err error
	f.store, err = openStore(f.h.loose, odb.Full)
	return err
}

func (f *forks) close() {
	if f.store != nil {
		_ = f.store.Close() // nothing is left to write
		f.store = nil
	}
}

func (f *forks) fork(ctx context.Context) error {
	f.made++
	origin := f.h.origin(time.Duration(f.made))
	_, err := f.store.Fork(ctx, f.h.id, f.h.head, conversationID(1_000_000+f.made), origin)
	return err
}

func (f *forks) updateRef(ctx context.Context) error {
	f.made++
	return gitTo(ctx, f.h.loose.TopLevel, nil, nil, "update-ref", fmt.Sprintf("refs/heads/copy%d", f.made), string(f.h.head))
}
