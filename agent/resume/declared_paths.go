package resume

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/reconcile"
)

// Named are the files that a call names, as paths are quoted in events.
func (s *EvidenceSource) Named(call *conversation.ToolCall) []string {
	paths := s.written(call)
	if t, ok := s.Tools.Lookup(call.Request.Name); ok && t.Definition().Paths == nil {
		paths = snapshot.Mentioned(call.Arguments())
	}
	for i, p := range paths {
		paths[i] = conversation.QuotePath(filepath.ToSlash(filepath.Clean(p)))
	}
	return paths
}

// written are the files that a call names, under the names that the tool got.
func (s *EvidenceSource) written(call *conversation.ToolCall) []string {
	if s.Tools == nil {
		return nil
	}
	t, ok := s.Tools.Lookup(call.Request.Name)
	if !ok || t.Definition().Paths == nil {
		return nil
	}
	arguments := call.Arguments()
	if restore := s.Repo.Values.Restorer(s.ID); restore != nil {
		var err error
		if arguments, err = restore(arguments); err != nil {
			return nil // their values are gone
		}
	}
	paths, _ := t.Definition().Paths(arguments)
	return paths
}

// WithoutSnapshot are the files which lost calls name and which the snapshots then and now lack: git ignores
// them, another repository has them, or they were left out. The value reports whether the file is there now.
func (s *EvidenceSource) WithoutSnapshot(ctx context.Context, r reconcile.Record, tree string) (map[string]bool, error) {
	var paths []string
	calls, _ := r.Ledger.Lost()
	for _, call := range calls {
		paths = append(paths, repo.Unquoted(s.Named(call))...)
	}
	if len(paths) == 0 || s.Files.Tree == nil {
		return nil, nil
	}
	recorded := map[string]bool{}
	if !s.Files.Off {
		trees := []string{tree}
		for _, call := range calls {
			trees = append(trees, call.Started.Tree)
		}
		slices.Sort(trees)
		for _, tree := range slices.Compact(trees) {
			if err := s.recordedIn(ctx, tree, paths, recorded); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range repo.Unquoted(snapshot.LeftOutPaths(s.leftOut)) {
		delete(recorded, path)
	}
	there := s.Files.Tree.StatAll(paths)
	found := map[string]bool{}
	for _, path := range paths {
		if !recorded[path] {
			found[conversation.QuotePath(path)] = there.Exists(path) || !filepath.IsLocal(path)
		}
	}
	return found, nil
}

// recordedIn adds those of the paths that are files of a tree.
func (s *EvidenceSource) recordedIn(ctx context.Context, tree string, paths []string, recorded map[string]bool) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !filepath.IsLocal(p) })
	if tree == "" || len(paths) == 0 {
		return nil
	}
	found, err := trees.Files(ctx, s.Repo.Trees, tree, paths)
	if err != nil {
		return fmt.Errorf("look for files in a snapshot: %w", err)
	}
	for path, v := range found {
		recorded[path] = recorded[path] || v.Mode != trees.ModeSubmodule
	}
	return nil
}
