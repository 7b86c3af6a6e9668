package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// chainsOf measures durable appends behind conversations of several lengths, against appends to files of as
// many lines: both must be independent of the length.
func chainsOf(lengths ...int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		var sides []side
		var undo []func()
		defer func() {
			for _, end := range undo {
				end()
			}
		}()
		for _, n := range lengths {
			h, err := b.history(ctx, n, 1)
			if err != nil {
				return nil, err
			}
			c, err := newChain(ctx, h)
			if err != nil {
				return nil, err
			}
			undo = append(undo, c.close)
			sides = append(sides, b.chainSide(c, n), b.jsonlSide(chainRival(n), c.lines))
		}
		all, err := rounds(ctx, b.rng, b.shortOps, sides)
		if err != nil {
			return nil, err
		}
		var rows []row
		for _, n := range lengths {
			r := all.row(fmt.Sprintf("append at %s events", grouped(n)), chainName(n), chainRival(n)).grows(workAppend, n)
			r.RivalName = appendJSONL
			rows = append(rows, r)
		}
		return rows, nil
	}
}

func chainName(n int) string  { return fmt.Sprintf("jp at %d", n) }
func chainRival(n int) string { return fmt.Sprintf("JSONL at %d", n) }

// A chain is a fork at the end of a history, and a file of as many lines.
type chain struct {
	store *gitstore.Store
	id    conversation.ID
	head  conversation.Head
	lines *os.File
}

func newChain(ctx context.Context, h *history) (*chain, error) {
	c := &chain{id: conversationID(2_000_000 + h.events)}
	var err error
	if c.store, err = openStore(h.loose, odb.Full); err != nil {
		return nil, err
	}
	if c.head, err = c.store.Fork(ctx, h.id, h.head, c.id, h.origin(time.Nanosecond)); err != nil {
		return nil, errors.Join(err, c.store.Close())
	}
	text, err := os.ReadFile(h.lines)
	if err != nil {
		return nil, errors.Join(err, c.store.Close())
	}
	if c.lines, err = os.Create(filepath.Join(h.loose.TopLevel, "chain.jsonl")); err != nil {
		return nil, errors.Join(err, c.store.Close())
	}
	if _, err = c.lines.Write(text); err == nil {
		err = c.lines.Sync()
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *chain) close() {
	_ = c.lines.Close() // it was flushed
	_ = c.store.Close() // nothing is left to write
}

// chainSide appends turns that contain none of the source's texts.
func (b *bench) chainSide(c *chain, n int) side {
	m := newMix(b.corpus, 1)
	m.seq, m.turn = n+1, 1+n // behind the fork's own event
	var events []*conversation.Event
	return side{
		name: chainName(n), block: 13,
		prepare: func() error {
			events = m.take(1)
			return nil
		},
		run: func(ctx context.Context) (err error) {
			c.head, err = c.store.Append(ctx, c.id, c.head, events)
			return err
		},
	}
}
