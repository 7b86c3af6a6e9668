//go:build !linux

package untracked

import "context"

// timesTell: the times of folders are unreliable on this system.
func timesTell(string) bool { return false }

// A reading would make a listing that is kept.
type reading struct {
	l       *Lister
	began   Time
	sources sources
}

func (r *reading) refresh(context.Context, *Listing) (*Listing, bool) { return nil, false }

func (r *reading) whole(ctx context.Context) (*Listing, error) { return r.l.plain(ctx) }

// Written are the files that may have changed: here, all of them.
func (l *Listing) Written(string, Time) (paths []string) {
	for _, f := range l.folders {
		for _, name := range f.names {
			paths = append(paths, join(f.path, name))
		}
	}
	return paths
}
