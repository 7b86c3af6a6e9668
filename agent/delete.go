package agent

import (
	"context"

	"jp/agent/repo"
	"jp/conversation"
)

// Delete deletes a conversation by its id. It fails if another conversation waits for it, if it was set back,
// or if a process holds it.
func Delete(ctx context.Context, r *repo.Repo, id conversation.ID) error {
	s := repo.Selection{Words: []string{string(id)}, Scopes: []conversation.Scope{conversation.ScopeLive}, ByID: true, Yes: true}
	infos, err := s.Find(ctx, r.Env, r)
	if err == nil {
		infos, err = r.Find().NotTwice(r.Env, infos, false)
	}
	if err == nil {
		err = r.Standings().NotSetBack(ctx, infos)
	}
	if err == nil {
		infos, err = r.States().NotAwaited(ctx, r.Env, infos, false)
	}
	if err != nil {
		return err
	}
	infos, release, err := s.HoldAll(ctx, r.Env, r, infos)
	if err != nil {
		return err
	}
	defer release()
	for _, info := range infos {
		if err := r.States().Delete(ctx, info); err != nil {
			return err
		}
	}
	return nil
}
