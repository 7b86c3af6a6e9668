package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"jp/conversation"
)

// rivals are others' ways to keep an event for good.
type rivals struct {
	sides []side
	undo  []func()
}

func (r *rivals) end() {
	for _, undo := range r.undo {
		undo()
	}
}

// appendRivals prepares them on a place. The caller ends the result.
func (b *bench) appendRivals(ctx context.Context, p filesystem) (*rivals, error) {
	r := &rivals{}
	dir, err := b.newDir(p.Dir)
	if err != nil {
		return r, err
	}
	lines, end, err := b.linesIn(dir)
	r.undo = append(r.undo, end)
	if err != nil {
		return r, err
	}
	r.sides = append(r.sides, lines)
	for _, events := range rewrites {
		r.sides = append(r.sides, b.rewriteSide(dir, events))
	}
	for _, name := range []string{appendGit, appendGitAll} {
		s, err := b.commitSide(ctx, p, name)
		if err != nil {
			return r, err
		}
		r.sides = append(r.sides, s)
	}
	db, err := openDatabase(ctx, filepath.Join(dir, "events.db"))
	if errors.Is(err, errAbsent) {
		b.note("%s: skipped: %v", appendSQLite, err)
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.undo = append(r.undo, db.close)
	r.sides = append(r.sides, b.databaseSide(db))
	return r, nil
}

// linesIn appends to a new file in a folder, which end closes.
func (b *bench) linesIn(dir string) (lines side, end func(), err error) {
	file, err := os.Create(filepath.Join(dir, "events.jsonl"))
	return b.jsonlSide(appendJSONL, file), func() { _ = file.Close() }, err // it was flushed
}

// jsonlSide appends the same events to a file, each flushed.
func (b *bench) jsonlSide(name string, file *os.File) side {
	return b.lineSide(name, func(line []byte) error {
		if _, err := file.Write(line); err != nil {
			return err
		}
		return file.Sync()
	})
}

// lineSide keeps the same events as lines, one by one.
func (b *bench) lineSide(name string, keep func(line []byte) error) side {
	m := newMix(b.corpus, 1)
	var event *conversation.Event
	return side{
		name: name, block: 13,
		prepare: func() error {
			event = m.take(1)[0]
			return nil
		},
		run: func(context.Context) error {
			line, err := encodeLine(event)
			if err != nil {
				return err
			}
			return keep(line)
		},
	}
}

// commitSide makes a commit of the same events by git's own programs.
func (b *bench) commitSide(ctx context.Context, p filesystem, name string) (side, error) {
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
