package undo

import (
	"context"
	"os"
	"path/filepath"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/backup"
	"jp/conversation"
	"jp/worktree"
)

// CopyTo writes the files of a backup into a new or empty folder: of the newest backup of this working tree, also if its
// repository is lost, or, with an event named, of the last one that jp made before it.
func CopyTo(ctx context.Context, r *repo.Repo, word, folder string) (*Result, error) {
	store, moment, err := backupOf(ctx, r, word)
	if err != nil {
		return nil, err
	}
	if moment == nil && word != "" {
		return nil, problem.New(problem.ExitNotFound, "not_found", "jp made no backup before %s. Without an event, --to writes the newest backup.", word)
	}
	if moment == nil {
		return nil, problem.New(problem.ExitNotFound, "not_found", "There is no backup of %s.", r.At.TopLevel)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
		return nil, problem.Usage("%s is not empty: --to needs a new or empty folder.", folder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	written, without, err := store.WriteTo(moment, root)
	result := &Result{Action: "restore", Conversation: conversation.ID(moment.Conversation), AsOf: moment.Call, Files: repo.CopyResults(written, without)}
	for _, e := range written {
		result.Puts = append(result.Puts, worktree.WriteOp{Path: e.Path})
	}
	return result, err
}

func backupOf(ctx context.Context, r *repo.Repo, word string) (*backup.Store, *backup.Moment, error) {
	if word == "" {
		return backup.Newest(filepath.Join(r.Paths.StateDir, repo.BackupsFolder), r.At.TopLevel)
	}
	v, event, err := r.Find().EventNamed(ctx, r.Env, word, onlyNamed)
	store := r.Standings().Backups()
	if err != nil || store == nil {
		return nil, nil, err
	}
	if event == nil {
		return nil, nil, problem.Usage("%s is a conversation: --to needs an event, as in %s@14, or no name.", word, word).About(v.ID)
	}
	moment, err := store.Before(string(v.ID), event.Seq, false)
	return store, moment, err
}
