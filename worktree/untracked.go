package worktree

import (
	"context"
	"fmt"
	"slices"
)

// A Listing is the names of untracked files without ignored ones, at one moment. Their content is in no
// tree.
type Listing struct {
	At    Timestamp `json:"at"`    // the moment, or a little before it
	Paths []string  `json:"paths"` // sorted; a whole folder, which is another repository, ends in a slash
}

// ListUntracked lists them as they are now.
func (w *Worktree) ListUntracked(ctx context.Context) (Listing, error) {
	at, err := w.Now(ctx) // changes from here on are later
	if err != nil {
		return Listing{}, err
	}
	listing, err := w.lister.List(ctx)
	if err != nil {
		return Listing{}, fmt.Errorf("list untracked files: %w", err)
	}
	return Listing{at, listing.paths()}, nil
}

// An UntrackedChange is an untracked file that has changed.
type UntrackedChange struct {
	Path string
	What string // "new", "changed" or "gone"
}

// Since are the differences between an earlier listing and a later one. A file has changed if it was
// touched since the earlier moment. One that git tracks now, or ignores, does not count as gone.
func (w *Worktree) Since(earlier, later Listing) (changes []UntrackedChange) {
	for _, path := range later.Paths {
		_, had := slices.BinarySearch(earlier.Paths, path)
		if !had {
			changes = append(changes, UntrackedChange{path, "new"})
		} else if !isFolder(path) && !w.Older(path, earlier.At) {
			changes = append(changes, UntrackedChange{path, "changed"})
		}
	}
	for _, path := range earlier.Paths {
		if _, still := slices.BinarySearch(later.Paths, path); still || isFolder(path) {
			continue
		}
		if _, err := w.lookup(path); isNotExist(err) {
			changes = append(changes, UntrackedChange{path, "gone"})
		}
	}
	return changes
}
