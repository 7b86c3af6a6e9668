package worktree_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// edit is one thing that a tool does to a file.
type edit struct {
	path, kind, content string
}

var editPaths = rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/b", "d/e/a", "e", "e.x", "e/a", "long name", "\xe9"})

func edits(rt *rapid.T) []edit {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) edit {
		return edit{
			path:    editPaths.Draw(rt, "path"),
			kind:    rapid.SampledFrom([]string{"write", "write", "write", "remove", "exec", "link"}).Draw(rt, "kind"),
			content: rapid.SampledFrom([]string{"", "1\n", "2\n", "1\n2\n3\n", "a\nb\nc\n", "\x00", "no end"}).Draw(rt, "content"),
		}
	}), 1, 8).Draw(rt, "edits")
}

// perform does the edit if the file system allows it; names may be in the way.
func (r *repo) perform(e edit) {
	target := r.path(e.path)
	if info, err := os.Lstat(target); err == nil && (info.IsDir() || e.kind != "write" || info.Mode().Type() != 0) {
		r.remove(e.path)
	}
	parents := []string{}
	for i, c := range e.path {
		if c == '/' {
			parents = append(parents, e.path[:i])
		}
	}
	for _, p := range parents {
		if info, err := os.Lstat(r.path(p)); err == nil && !info.IsDir() {
			r.remove(p)
		}
	}
	switch e.kind {
	case "remove":
		r.remove(e.path)
	case "link":
		r.write(e.path, "")
		r.remove(e.path)
		require.NoError(r.t, os.Symlink(fmt.Sprintf("target %x", e.content), target))
	default:
		r.write(e.path, e.content)
		if e.kind == "exec" {
			require.NoError(r.t, os.Chmod(target, 0o755))
		}
	}
}

// After any edits of a tool, the snapshot equals `git add -A` of the files, the changes lead from tree to
// tree, and with named paths the in-process snapshot agrees.
func TestSnapshotIsWhatAddAllMakes(t *testing.T) {
	gitenv.Isolate(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 25 {
			return // each run starts some hundred children
		}
		r := newRepo(t, map[string]string{"a": "1\n", "d/a": "1\n", "d/e/a": "1\n", "e.x": "1\n"})
		tree := r.head()
		for step := range 3 {
			mark, batch := r.mark(), edits(rt)
			var named []string
			for _, e := range batch {
				r.perform(e)
				named = append(named, e.path)
			}
			if step == 1 {
				r.git("add", "-A", "--", "d") // the user stages some of it
			}
			quick, ok, err := r.w.SnapshotPaths(t.Context(), tree, named, reader{r.dir})
			require.NoError(t, err)
			opts := worktree.SnapshotOptions{Since: mark, Untracked: true}
			if rapid.Bool().Draw(rt, "in process") {
				opts.Objects = reader{r.dir}
			}
			full, err := r.w.Snapshot(t.Context(), tree, opts)
			require.NoError(t, err)
			r.store(full.Objects)
			if want := r.addAll(); want != full.Tree {
				rt.Fatalf("step %d: %q: want %v, got %v", step, batch, r.files(want), r.files(full.Tree))
			}
			if ok && len(removedAbove(batch)) == 0 && quick.Tree != full.Tree {
				rt.Fatalf("step %d: %q: in process %v", step, batch, paths(quick.Changes))
			}
			checkChanges(rt, r, tree, full)
			again, err := r.w.Snapshot(t.Context(), full.Tree, worktree.SnapshotOptions{Objects: reader{r.dir}})
			require.NoError(t, err)
			require.Equal(t, worktree.Snapshot{Tree: full.Tree}, again, "a second look finds a phantom change")
			tree = full.Tree
		}
	})
}

// removedAbove are the edits that also removed other paths, since a folder or file was in their way. Naming
// the edited path is then too little.
func removedAbove(batch []edit) []string {
	var list []string
	for _, e := range batch {
		if e.path == "d" || e.path == "e" || e.path == "d/e" {
			list = append(list, e.path)
		}
	}
	return list
}

func checkChanges(rt *rapid.T, r *repo, from string, s worktree.Snapshot) {
	files := r.git("ls-tree", "-r", from)
	for _, c := range s.Changes {
		if (c.Before == "") != (c.Status == "A") || (c.After == "") != (c.Status == "D") {
			rt.Fatalf("change does not agree with itself: %+v in\n%s", c, files)
		}
	}
	want := fmt.Sprint(len(s.Changes) == 0)
	if got := fmt.Sprint(from == s.Tree); got != want {
		rt.Fatalf("%d changes, yet same tree: %s", len(s.Changes), got)
	}
}
