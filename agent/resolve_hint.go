package agent

import (
	"context"

	"jp/agent/repo"
	"jp/internal/action"
)

// namingBroken says that a conversation has to be named, and which ones have a
// turn that was broken off.
func namingBroken(ctx context.Context, r *repo.Repo, o Request) error {
	about := action.Continue
	if o.Resume.Discard {
		about = action.Discard
	}
	return r.Find().Naming(ctx, about, repo.Stopped)
}
