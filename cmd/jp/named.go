package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"jp/conversation"
	"jp/reconcile"
	"jp/tool"
	"jp/worktree"
)

// named are the files that a call names, as paths are quoted in events.
func (q *query) named(call *conversation.ToolCall) []string {
	paths := q.written(q.registry, call)
	if t, ok := q.registry.Lookup(call.Request.Name); ok && t.Definition().Paths == nil {
		paths = mentioned(call.Arguments())
	}
	for i, p := range paths {
		paths[i] = conversation.QuotePath(filepath.ToSlash(filepath.Clean(p)))
	}
	return paths
}

// mentioned are the files that a call of any tool names by the usual arguments, path and
// paths, as far as they can be files of the working tree. They are evidence, and no more:
// the tool did not say that it writes to them.
func mentioned(arguments json.RawMessage) []string {
	var named struct {
		Path  json.RawMessage `json:"path"`
		Paths json.RawMessage `json:"paths"`
	}
	if json.Unmarshal(arguments, &named) != nil {
		return nil
	}
	var one string
	var several []string
	if json.Unmarshal(named.Path, &one) == nil {
		several = append(several, one)
	}
	var more []string
	if json.Unmarshal(named.Paths, &more) == nil {
		several = append(several, more...)
	}
	return slices.DeleteFunc(several, func(p string) bool {
		return !filepath.IsLocal(p) || !worktree.IsPath(filepath.ToSlash(filepath.Clean(p))) || filepath.Clean(p) == "."
	})
}

// written are the files that a call names, under the names that the tool got.
func (q *query) written(tools *tool.Registry, call *conversation.ToolCall) []string {
	t, ok := tools.Lookup(call.Request.Name)
	if !ok || t.Definition().Paths == nil {
		return nil
	}
	arguments := call.Arguments()
	if restore := q.repo.values.restorer(q.id); restore != nil {
		var err error
		if arguments, err = restore(arguments); err != nil {
			return nil // what they stand for is not known any more
		}
	}
	paths, _ := t.Definition().Paths(arguments)
	return paths
}

// unrecorded are the files which lost calls name and of which the snapshots then
// and now tell nothing: git ignores them, another repository has them, or they were
// left out. It says of each whether it is there now.
func (q *query) unrecorded(ctx context.Context, r reconcile.Record, tree string) (map[string]bool, error) {
	var paths []string
	calls, _ := r.Ledger.Lost()
	for _, call := range calls {
		paths = append(paths, unquoted(q.named(call))...)
	}
	if len(paths) == 0 || q.files.tree == nil {
		return nil, nil
	}
	recorded := map[string]bool{}
	if !q.files.off {
		trees := []string{tree}
		for _, call := range calls {
			trees = append(trees, call.Started.Tree)
		}
		slices.Sort(trees)
		for _, tree := range slices.Compact(trees) {
			if err := q.recordedIn(ctx, tree, paths, recorded); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range unquoted(leftOutPaths(q.leftOut)) {
		delete(recorded, path)
	}
	there := q.files.tree.Look(paths)
	found := map[string]bool{}
	for _, path := range paths {
		if !recorded[path] {
			found[conversation.QuotePath(path)] = there.There(path) || !filepath.IsLocal(path)
		}
	}
	return found, nil
}

// recordedIn adds those of the paths that are files of a tree.
func (q *query) recordedIn(ctx context.Context, tree string, paths []string, recorded map[string]bool) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !filepath.IsLocal(p) })
	if tree == "" || len(paths) == 0 {
		return nil
	}
	out, err := q.repo.git.Run(ctx, append([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, paths...)...)
	if err != nil {
		return fmt.Errorf("look for files in a snapshot: %w", err)
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		facts, path, found := bytes.Cut(entry, []byte{'\t'})
		if found && bytes.Contains(facts, []byte(" blob ")) {
			recorded[string(path)] = true
		}
	}
	return nil
}

func leftOutPaths(all []conversation.LeftOut) []string {
	var paths []string
	for _, l := range all {
		if l.Why != worktree.WhyGone {
			paths = append(paths, l.Path)
		}
	}
	return paths
}
