package main

import (
	"context"
	"time"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// Sides of the append rows.
const (
	appendOne    = "jp, one event"
	appendFive   = "jp, five events"
	appendJSONL  = "JSONL fsync"
	appendGit    = "git commit+ref"
	appendGitAll = "git, fsync=all"
)

// group is how many events move the ref once in the row of several.
const group = 5

// groupTarget is that of a group on the ordered path.
const groupTarget = 0.6

func measureAppend(ctx context.Context, b *bench, p filesystem) ([]row, error) {
	repo, err := b.usedRepo(ctx, p.Dir)
	if err != nil {
		return nil, err
	}
	store, err := openStore(repo, odb.Full)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	one, err := b.appendSide(ctx, store, appendOne, 1)
	if err != nil {
		return nil, err
	}
	five, err := b.appendSide(ctx, store, appendFive, group)
	if err != nil {
		return nil, err
	}
	rivals, err := b.appendRivals(ctx, p)
	defer rivals.end()
	if err != nil {
		return nil, err
	}
	all, err := rounds(ctx, b.rng, b.shortOps, append(rivals.sides, one, five))
	if err != nil {
		return nil, err
	}
	spaced, err := rounds(ctx, b.rng, b.shortOps, []side{apart(one), apart(rivals.sides[0])})
	if err != nil {
		return nil, err
	}
	return append(appendRows(all, p), spacedRows(spaced, p)...), nil
}

// pause is the time before each operation of the spaced rows: an agent's events come milliseconds apart and
// more, and by then a write has finished the work behind its acknowledgement.
const pause = 3 * time.Millisecond

// apart is a side with a pause before each operation.
func apart(s side) side {
	prepare := s.prepare
	s.prepare = func() error {
		time.Sleep(pause)
		return prepare()
	}
	return s
}

func spacedRows(all timings, p filesystem) []row {
	return []row{
		all.row("append 1 event, 3 ms apart, p50", appendOne, appendJSONL).within(appendTarget(p)),
		all.rowAt(0.99, "append 1 event, 3 ms apart, p99", appendOne, appendJSONL),
	}
}

// appendRows compares the measured times, a group of events by its share.
func appendRows(all timings, p filesystem) []row {
	const one, five = "append 1 event, ", "append 5 at once, per event, "
	rows := []row{
		all.row(one+"p50", appendOne, appendJSONL).within(appendTarget(p)),
		all.rowAt(0.99, one+"p99", appendOne, appendJSONL),
		all.row(five+"p50", appendFive, appendJSONL).per(group).within(groupTargetOn(p)),
		all.rowAt(0.99, five+"p99", appendFive, appendJSONL).per(group),
	}
	for _, rival := range []string{appendSQLite, rewriteName(rewrites[0]), rewriteName(rewrites[1]), appendGit, appendGitAll} {
		if all[rival] != nil {
			rows = append(rows, all.row(one+"p50", appendOne, rival), all.rowAt(0.99, one+"p99", appendOne, rival))
		}
	}
	return append(rows, all.row(five+"p50", appendFive, appendGit).per(group))
}

// appendTarget is looser on a file system whose order of writes is unreliable.
func appendTarget(p filesystem) float64 {
	if p.Path == odb.PathOrdered {
		return 2
	}
	return 4
}

// groupTargetOn is 0 on the stepwise path, which flushes each object and each folder by itself, so that a
// group costs about as much as its events.
func groupTargetOn(p filesystem) float64 {
	if p.Path == odb.PathOrdered {
		return groupTarget
	}
	return 0
}

// appendSide appends n events at a time to a conversation of its own.
func (b *bench) appendSide(ctx context.Context, store *gitstore.Store, name string, n int) (side, error) {
	m, id := newMix(b.corpus, 1).later(time.Duration(n)*time.Hour), conversationID(n)
	head, err := store.Create(ctx, id, "", m.take(2))
	if err != nil {
		return side{}, err
	}
	var events []*conversation.Event
	return side{
		name: name, block: 13,
		prepare: func() error {
			events = m.take(n)
			return nil
		},
		run: func(ctx context.Context) (err error) {
			head, err = store.Append(ctx, id, head, events)
			return err
		},
	}, nil
}
