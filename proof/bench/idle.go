package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/safefile"
	"jp/process"
)

// atOnce is how many conversations are made at once: the lock of each ref is an open file.
const atOnce = 5_000

// fillIdle makes n conversations of one whole turn, as they are when their processes have
// ended: packed, with a lock file each, and with their heads noted in the user's state.
func (b *bench) fillIdle(ctx context.Context, repo gitcmd.Repository, n int) error {
	if err := keepStoreKey(); err != nil {
		return err
	}
	store, err := openUsersStore(repo)
	if err != nil {
		return err
	}
	defer store.Close()
	for from := 0; from < n; from += atOnce {
		err := gitstore.Collection{Store: store}.Do(ctx, func() error {
			for i := from; i < min(n, from+atOnce); i++ {
				if _, err := store.Create(ctx, conversationID(i), "", idleTurn(b.corpus, i)); err != nil {
					return err
				}
				if err := wasHeld(repo, conversationID(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// openUsersStore opens a store that notes heads in the user's state, as jp does.
func openUsersStore(at gitcmd.Repository) (*gitstore.Store, error) {
	state := filepath.Join(os.Getenv("HOME"), ".local/state/jp")
	options := storeOptions(odb.Off)
	options.HeadsDir = filepath.Join(state, "heads")
	options.Repository = func(bool) (string, error) {
		return gitstore.IDRegistry{Dir: filepath.Join(state, "repositories")}.ID(safefile.StateDir{GitDir: at.CommonDir})
	}
	return gitstore.Open(at, options)
}

// idleTurn is a question and its answer. Each conversation has others, at another time.
func idleTurn(corpus string, i int) []*conversation.Event {
	m := newMix(corpus, 1).later(time.Duration(i) * time.Minute)
	m.at = i * 4096 % len(corpus)
	m.turn++
	m.add(&conversation.TurnStart{Model: model, JP: "0.1.0"})
	m.add(&conversation.ChatRequest{Content: m.text(requestText)})
	m.add(&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: m.text(answerText), CallEnd: m.ended(conversation.FinishStop)})
	return m.take(3)
}

// wasHeld leaves the lock file of a process that has ended.
func wasHeld(repo gitcmd.Repository, id conversation.ID) error {
	lock, err := process.LocksIn(repo.CommonDir).Take(id, process.Holder{PID: os.Getpid(), Started: time.Now()})
	if err != nil {
		return err
	}
	return lock.Release()
}
