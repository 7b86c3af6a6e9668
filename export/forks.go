package export

import (
	"context"

	"jp/agent/repo"
	"jp/conversation"
)

// Forks finds the conversations that were forked from another one, by that one.
func Forks(ctx context.Context, r *repo.Repo) (map[conversation.ID][]Fork, error) {
	forks := map[conversation.ID][]Fork{}
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		infos, err := r.Store.List(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, i := range infos {
			if from := i.Summary.Fork; i.Err == nil && from != nil {
				forks[from.Conversation] = append(forks[from.Conversation], Fork{i.ID, i.Summary.Title, from.Seq})
			}
		}
	}
	return forks, nil
}
