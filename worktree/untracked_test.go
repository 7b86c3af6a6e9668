package worktree_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

// Any change to an untracked file is seen, also if its size and its time of change are as before. Tracked
// and ignored files are left out.
func TestUntrackedSince(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*repo)
		want []worktree.UntrackedChange
	}{
		"nothing":               {func(*repo) {}, nil},
		"read":                  {func(r *repo) { _, _ = os.ReadFile(r.path("old.txt")) }, nil},
		"new":                   {func(r *repo) { r.write("made.txt", "x") }, []worktree.UntrackedChange{{"made.txt", "new"}}},
		"new in a new folder":   {func(r *repo) { r.write("a/b/made.txt", "x") }, []worktree.UntrackedChange{{"a/b/made.txt", "new"}}},
		"new with odd bytes":    {func(r *repo) { r.write("odd\xff\n.txt", "x") }, []worktree.UntrackedChange{{"odd\xff\n.txt", "new"}}},
		"written":               {func(r *repo) { r.write("old.txt", "other") }, []worktree.UntrackedChange{{"old.txt", "changed"}}},
		"written as it was":     {func(r *repo) { r.write("old.txt", "old") }, []worktree.UntrackedChange{{"old.txt", "changed"}}},
		"removed":               {func(r *repo) { require.NoError(r.t, os.Remove(r.path("old.txt"))) }, []worktree.UntrackedChange{{"old.txt", "gone"}}},
		"removed with a folder": {func(r *repo) { require.NoError(r.t, os.RemoveAll(r.path("dir"))) }, []worktree.UntrackedChange{{"dir/in.txt", "gone"}}},
		"renamed":               {func(r *repo) { r.rename("old.txt", "moved.txt") }, []worktree.UntrackedChange{{"moved.txt", "new"}, {"old.txt", "gone"}}},
		"added to the index":    {func(r *repo) { r.git("add", "old.txt") }, nil},
		"ignored from now on":   {func(r *repo) { r.write(".git/info/exclude", "old.txt\n") }, nil},
		"an ignored file":       {func(r *repo) { r.write("skip.log", "more") }, nil},
		"a tracked file":        {func(r *repo) { r.write("tracked.txt", "more") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, nil)
			r.write("tracked.txt", "x")
			r.write(".gitignore", "*.log\n")
			r.git("add", ".")
			r.git("commit", "-q", "-m", "first")
			r.write("old.txt", "old")
			r.write("dir/in.txt", "in")
			r.write("skip.log", "x")
			r.later()
			before, err := r.w.ListUntracked(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"dir/in.txt", "old.txt"}, before.Paths)
			c.do(r)
			r.later()
			after, err := r.w.ListUntracked(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, r.w.Since(before, after))
			require.Empty(t, r.w.Since(after, after), "an unchanged tree has no differences")
		})
	}
}
