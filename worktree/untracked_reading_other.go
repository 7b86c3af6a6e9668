//go:build !linux

package worktree

import "context"

// folderTimesReliable is false on this system.
func folderTimesReliable(string) bool { return false }

// A folderReading would make a listing that is kept.
type folderReading struct {
	l       *untrackedLister
	began   changeTime
	sources ruleSources
}

func (r *folderReading) refresh(context.Context, *untrackedListing) (*untrackedListing, bool) {
	return nil, false
}

func (r *folderReading) whole(ctx context.Context) (*untrackedListing, error) { return r.l.plain(ctx) }

// written are the files that may have changed: here, all of them.
func (l *untrackedListing) written(string, changeTime) (paths []string) {
	for _, f := range l.folders {
		for _, name := range f.names {
			paths = append(paths, joinPath(f.path, name))
		}
	}
	return paths
}
