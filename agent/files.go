package agent

import (
	"context"
	"os"

	"jp/agent/snapshot"
	"jp/gitstore"
)

// openFiles opens the working tree, once.
func (q *query) openFiles(ctx context.Context) (_ *snapshot.Files, err error) {
	if q.files == nil {
		if q.opts.NoPersist {
			q.files, err = snapshot.UnwatchedFiles(ctx, q.repo)
		} else {
			q.files, err = snapshot.OpenFiles(ctx, q.repo)
		}
		if err == nil {
			q.files.Notice = q.out.Noticed
			if q.repo.TopLevel != "" {
				q.files.Root, _ = os.OpenRoot(q.repo.TopLevel)
				q.files.Key, _ = gitstore.LoadKey(q.repo.KeyFile()) // without either a yes is not bound to untracked files
			}
		}
	}
	return q.files, err
}
