package agent

import (
	"context"

	"jp/agent/repo"
	"jp/internal/action"
)

// namingBroken is the error of a missing conversation name. It lists the conversations with an interrupted
// turn.
func namingBroken(ctx context.Context, r *repo.Repo, o Request) error {
	about := action.Continue
	if o.Resume.Discard {
		about = action.Discard
	}
	return r.Find().Naming(ctx, about, repo.Stopped)
}
