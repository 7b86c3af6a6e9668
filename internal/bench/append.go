package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// Sides of the append rows.
const (
	appendOne    = "jp, one event"
	appendFive   = "jp, five events"
	appendJSONL  = "JSONL fsync"
	appendGit    = "git commit-tree + update-ref"
	appendGitAll = "the same, core.fsync=all"
)

// group is how many events move the ref once in the row of several.
const group = 5

func measureAppend(ctx context.Context, b *bench, p place) ([]row, error) {
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
	file, err := os.Create(filepath.Join(repo.TopLevel, "events.jsonl"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sides := []side{one, five, b.jsonlSide(file)}
	for _, name := range []string{appendGit, appendGitAll} {
		s, err := b.commitSide(ctx, p, name)
		if err != nil {
			return nil, err
		}
		sides = append(sides, s)
	}
	took, err := rounds(ctx, b.rng, b.shortOps, sides)
	if err != nil {
		return nil, err
	}
	return appendRows(took, p), nil
}

// appendRows compares what was measured, a group of events by its share.
func appendRows(took map[string]samples, p place) []row {
	at := func(side string, q float64) float64 { return took[side].quantile(q).Seconds() }
	rows := []row{
		{Name: "append 1 event, p50", RivalName: appendJSONL, JP: at(appendOne, 0.5), Rival: at(appendJSONL, 0.5), Target: appendTarget(p)},
		{Name: "append 1 event, p99", RivalName: appendJSONL, JP: at(appendOne, 0.99), Rival: at(appendJSONL, 0.99)},
		{Name: "append 5 at once, per event, p50", RivalName: appendJSONL, JP: at(appendFive, 0.5) / group, Rival: at(appendJSONL, 0.5), Target: 0.6},
		{Name: "append 5 at once, per event, p99", RivalName: appendJSONL, JP: at(appendFive, 0.99) / group, Rival: at(appendJSONL, 0.99)},
		{Name: "append 1 event, p50", RivalName: appendGit, JP: at(appendOne, 0.5), Rival: at(appendGit, 0.5)},
		{Name: "append 1 event, p50", RivalName: appendGitAll, JP: at(appendOne, 0.5), Rival: at(appendGitAll, 0.5)},
		{Name: "append 5 at once, per event, p50", RivalName: appendGit, JP: at(appendFive, 0.5) / group, Rival: at(appendGit, 0.5)},
	}
	for i := range rows {
		rows[i].Unit = seconds
	}
	return rows
}

// appendSide appends n events at a time to a conversation of its own.
func (b *bench) appendSide(ctx context.Context, store *gitstore.Store, name string, n int) (side, error) {
	m, id := newMix(b.corpus, 1), conversationID(n)
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

// jsonlSide writes the same events, each flushed.
func (b *bench) jsonlSide(file *os.File) side {
	m := newMix(b.corpus, 1)
	var event *conversation.Event
	return side{
		name: appendJSONL, block: 13,
		prepare: func() error {
			event = m.take(1)[0]
			return nil
		},
		run: func(context.Context) error {
			line, err := encodeLine(event)
			if err != nil {
				return err
			}
			if _, err := file.Write(line); err != nil {
				return err
			}
			return file.Sync()
		},
	}
}

// commitSide makes a commit of the same events by git's own programs.
func (b *bench) commitSide(ctx context.Context, p place, name string) (side, error) {
	repo, err := b.usedRepo(ctx, p.Dir)
	if err != nil {
		return side{}, err
	}
	tree, err := git(ctx, repo.TopLevel, "mktree")
	if err != nil {
		return side{}, err
	}
	m, head := newMix(b.corpus, 1), ""
	var message []byte
	return side{
		name: name, block: 4,
		prepare: func() (err error) {
			message, err = encodeLine(m.take(1)[0])
			return err
		},
		run: func(ctx context.Context) (err error) {
			head, err = commitByGit(ctx, repo.TopLevel, tree, head, message, name == appendGitAll)
			return err
		},
	}, nil
}

// commitByGit makes one commit behind a head and moves a ref to it.
func commitByGit(ctx context.Context, dir, tree, head string, message []byte, fsyncAll bool) (string, error) {
	var config []string
	if fsyncAll {
		config = []string{"-c", "core.fsync=all"}
	}
	commit := append(config, "commit-tree", tree, "-F", "-")
	if head != "" {
		commit = append(commit, "-p", head)
	}
	var out bytes.Buffer
	if err := gitTo(ctx, dir, &out, bytes.NewReader(message), commit...); err != nil {
		return "", err
	}
	next := string(bytes.TrimSpace(out.Bytes()))
	move := append(config, "update-ref", "refs/heads/events", next)
	if err := gitTo(ctx, dir, nil, nil, append(move, head)...); err != nil {
		return "", fmt.Errorf("move to %s: %w", next, err)
	}
	return next, nil
}
