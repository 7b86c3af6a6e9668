package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// A history is one conversation in three forms: with loose objects, packed by
// git gc, and as JSONL.
type history struct {
	events int
	id     conversation.ID
	head   conversation.Head
	loose  gitcmd.Repository
	packed gitcmd.Repository
	lines  string // path of the JSONL

	lineBytes  int64
	looseBytes int64 // blocks of the loose objects and their directories
	packBytes  int64 // lengths of packs and their indexes
}

// history makes a conversation of n events, once. Texts are scaled.
func (b *bench) history(ctx context.Context, n int, scale float64) (*history, error) {
	key := fmt.Sprintf("%d at %g", n, scale)
	if h := b.kept[key]; h != nil {
		return h, nil
	}
	h, err := b.makeHistory(ctx, b.scratch, n, scale)
	if err != nil {
		return nil, fmt.Errorf("make a history of %d events: %w", n, err)
	}
	b.kept[key] = h
	return h, nil
}

// historyOn makes a conversation of n events on a place.
func (b *bench) historyOn(ctx context.Context, p filesystem, n int) (*history, error) {
	if p.Dir == b.scratch {
		return b.history(ctx, n, 1)
	}
	return b.makeHistory(ctx, p.Dir, n, 1)
}

// origin is the first event of a fork at the end of the history, made some time
// after it.
func (h *history) origin(after time.Duration) *conversation.Event {
	return &conversation.Event{
		Seq: h.events, Turn: 1, Time: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).Add(after), Model: model,
		Body: &conversation.ForkOrigin{Conversation: h.id, Seq: h.events - 1, Commit: string(h.head)},
	}
}

func (b *bench) makeHistory(ctx context.Context, parent string, n int, scale float64) (*history, error) {
	h := &history{events: n, id: conversationID(n)}
	var err error
	if h.loose, err = b.newRepo(ctx, parent); err != nil {
		return nil, err
	}
	before, err := blocks(objectsOf(h.loose))
	if err != nil {
		return nil, err
	}
	if err := h.fill(ctx, newMix(b.corpus, scale).take(n)); err != nil {
		return nil, err
	}
	after, err := blocks(objectsOf(h.loose))
	if err != nil {
		return nil, err
	}
	h.looseBytes = after - before
	if h.packed, err = b.gcCopy(ctx, parent, h.loose); err != nil {
		return nil, err
	}
	if h.packBytes, err = lengths(filepath.Join(objectsOf(h.packed), "pack")); err != nil {
		return nil, err
	}
	return h, b.waitForDisk(parent)
}

// fill stores the events, and writes them as lines.
func (h *history) fill(ctx context.Context, events []*conversation.Event) error {
	store, err := openStore(h.loose, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	if h.head, err = store.Create(ctx, h.id, "", events); err != nil {
		return err
	}
	h.lines = filepath.Join(h.loose.TopLevel, "events.jsonl")
	h.lineBytes, err = writeLines(h.lines, events)
	return err
}

// gcCopy is a copy of a repository that git has packed.
func (b *bench) gcCopy(ctx context.Context, parent string, from gitcmd.Repository) (gitcmd.Repository, error) {
	dir, err := b.newDir(parent)
	if err != nil {
		return gitcmd.Repository{}, err
	}
	if err := os.CopyFS(filepath.Join(dir, ".git"), os.DirFS(from.CommonDir)); err != nil {
		return gitcmd.Repository{}, err
	}
	if _, err := git(ctx, dir, "gc", "-q"); err != nil {
		return gitcmd.Repository{}, err
	}
	return gitcmd.Locate(ctx, dir, gitcmd.Options{})
}

func objectsOf(repo gitcmd.Repository) string { return filepath.Join(repo.CommonDir, "objects") }

// blocks is the room that a folder and all in it take on the disk, in bytes.
func blocks(dir string) (int64, error) {
	return sum(dir, func(info fs.FileInfo) int64 {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			return st.Blocks * 512
		}
		return info.Size()
	})
}

// lengths is the sum of the lengths of the files in a folder.
func lengths(dir string) (int64, error) {
	return sum(dir, func(info fs.FileInfo) int64 {
		if info.Mode().IsRegular() {
			return info.Size()
		}
		return 0
	})
}

func sum(dir string, of func(fs.FileInfo) int64) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += of(info)
		return nil
	})
	return total, err
}
