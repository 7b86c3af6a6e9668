package snapshot

import (
	"context"

	"jp/agent/repo"
	"jp/conversation"
)

// Here is the place of the working tree, nil without one.
func Here(ctx context.Context, r *repo.Repo) (*conversation.Git, error) {
	files, err := OpenFiles(ctx, r)
	if err != nil {
		return nil, err
	}
	return files.Place(ctx)
}
