package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitcmd"
	"jp/reconcile"
)

// untracked finds what became of the files that git does not track, nor ignores, since
// the turn's record was made. A tool's own files are in the snapshots and are left out.
func (s *Source) untracked(ctx context.Context, tree string) ([]reconcile.Untracked, error) {
	text, err := s.Repo.Own().Read(repo.DraftsFolder, snapshot.UntrackedName(s.ID))
	var was snapshot.UntrackedRecord
	if err != nil || json.Unmarshal(text, &was) != nil || was.Worktree != s.Files.ID || s.Files.Off {
		return nil, nil // nobody knows what there was
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
	snapshot, err := s.pathsIn(ctx, tree)
	if err != nil {
		return nil, err
	}
	var found []reconcile.Untracked
	for _, c := range changes {
		if !snapshot[c.Path] {
			found = append(found, reconcile.Untracked{Path: conversation.QuotePath(c.Path), What: c.What})
		}
	}
	return found, nil
}

// pathsIn are the paths of a snapshot's files.
func (s *Source) pathsIn(ctx context.Context, tree string) (map[string]bool, error) {
	paths := map[string]bool{}
	if tree == "" {
		return paths, nil
	}
	out, err := s.Repo.Git.RunWith(ctx, gitcmd.Command{Args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", tree}})
	if err != nil {
		return nil, err
	}
	for path := range bytes.SplitSeq(out, []byte{0}) {
		paths[string(path)] = true
	}
	return paths, nil
}
