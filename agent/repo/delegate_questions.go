package repo

import (
	"context"

	"jp/conversation"
)

// AskedIn is the conversation whose process asks the questions of this one: its parent, if that runs it, else
// itself.
func (r States) AskedIn(ctx context.Context, id conversation.ID) conversation.ID {
	holder, held := r.repo.Locks.Held(id)
	if !held {
		return id
	}
	info, err := r.repo.Store.Info(ctx, id)
	if err != nil || info.Summary.Parent == "" {
		return id
	}
	if other, held := r.repo.Locks.Held(info.Summary.Parent); !held || other.PID != holder.PID {
		return id
	}
	return info.Summary.Parent
}
