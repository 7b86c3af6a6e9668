package agent

import (
	"context"

	"jp/agent/repo"
)

// namingBroken says that a conversation has to be named, and which ones have a
// turn that was broken off.
func namingBroken(ctx context.Context, r *repo.Repo, o Request) error {
	command := "jp continue "
	if o.DiscardTurn {
		command = "jp discard "
	}
	return r.Find().Naming(ctx, command, func(s repo.Status) bool { return s.State != "idle" && s.PID == nil })
}
