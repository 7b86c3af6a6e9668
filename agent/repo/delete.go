package repo

import (
	"context"

	"jp/conversation"
	"jp/usage"
)

// UndoFolder has the records of undo about conversations, below jp's folder in the git directory.
const UndoFolder = "undo"

// Delete deletes a conversation, whose lock is held, and jp's files about it besides the repository's
// objects.
func (r States) Delete(ctx context.Context, info conversation.Info) error {
	if err := r.repo.Store.Delete(ctx, info.ID, info.Head); err != nil {
		return err
	}
	r.forgetLists()
	r.repo.forgetSecrets(info.ID)
	for _, kind := range []string{".query", ".pictures", ".queue", ".answer", ".unsent", ".untracked"} {
		_ = r.repo.StateDir().Remove(DraftsFolder, string(info.ID)+kind) // there may be none
	}
	_ = r.repo.StateDir().Remove(UndoFolder, string(info.ID)) // there may be none
	_ = r.repo.StateDir().Remove(LinesFolder, LinesFile)      // the next blame makes it
	usage.Forget(r.repo.StateDir(), info.ID)
	if backups := r.repo.Standings().Backups(); backups != nil {
		if err := backups.Forget(ctx, string(info.ID)); err != nil {
			r.repo.Env.Note("Its backups stay until they are too old: %v.", err)
		}
	}
	if registry, ok := r.ToldRegistry(); ok {
		_ = registry.Forget(info.ID) // its log; there may be none
	}
	return nil
}
