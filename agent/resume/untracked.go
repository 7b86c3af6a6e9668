package resume

import (
	"context"
	"encoding/json"
	"slices"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/reconcile"
)

// untracked finds the changes of files that git neither tracks nor ignores, since the turn's record was made.
// A tool's own files are in the snapshots and are left out.
func (s *EvidenceSource) untracked(ctx context.Context, tree string) ([]reconcile.Untracked, error) {
	text, err := s.Repo.StateDir().ReadSealed(repo.DraftsFolder, snapshot.UntrackedName(s.ID))
	var was snapshot.UntrackedRecord
	if err != nil || json.Unmarshal(text, &was) != nil || was.Worktree != s.Files.ID || s.Files.Off {
		return nil, nil // their earlier state is unknown
	}
	was.Paths = repo.Unquoted(was.Paths)
	slices.Sort(was.Paths)
	now, err := s.Files.Tree.ListUntracked(ctx)
	if err != nil {
		return nil, err
	}
	s.listing = &now
	changes := s.Files.Tree.Since(was.Listing, now)
	if len(changes) == 0 {
		return nil, nil
	}
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	recorded, err := trees.Files(ctx, s.Repo.Trees, tree, paths)
	if err != nil {
		return nil, err
	}
	var found []reconcile.Untracked
	for _, c := range changes {
		if recorded[c.Path] == (trees.Version{}) {
			found = append(found, reconcile.Untracked{Path: conversation.QuotePath(c.Path), What: c.What})
		}
	}
	return found, nil
}
