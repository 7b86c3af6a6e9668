package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// watchedRepo has its files in a file system with watches.
func watchedRepo(t *testing.T) *repo {
	r := agedRepo(t)
	if !worktree.Watchable(r.dir) {
		t.Skip("no watches in this file system")
	}
	return r
}

// A look after a tool serves the next look, which looks again at the paths that changed. If the kernel does
// not tell all of them, the next look looks at everything.
func TestLookServesTheNext(t *testing.T) {
	all := func(*repo) {}
	for name, c := range map[string]struct {
		before func(r *repo) // the look after the tool; nil: none
		do     func(r *repo)
		again  []string // nil: all paths
		want   []string // suspects
	}{
		"nothing":                  {do: all, again: []string{}},
		"files of git":             {do: func(r *repo) { r.write(".git/x", "") }, again: []string{}},
		"written":                  {do: func(r *repo) { r.write("d/e/a", "other\n") }, again: []string{"d/e/a"}, want: []string{"d/e/a"}},
		"written before and after": {before: func(r *repo) { r.write("a", "2\n") }, do: func(r *repo) { r.write("d/a", "2\n") }, again: []string{"d/a"}, want: []string{"a", "d/a"}},
		"written twice":            {before: func(r *repo) { r.write("a", "2\n") }, do: func(r *repo) { r.write("a", "3\n") }, again: []string{"a"}, want: []string{"a"}},
		"replaced": {do: func(r *repo) {
			r.write("d/.new", "other\n")
			require.NoError(r.t, os.Rename(r.path("d/.new"), r.path("d/a")))
		}, again: []string{"d/.new", "d/a"}, want: []string{"d/a"}},
		"untracked":       {do: func(r *repo) { r.write("new", "") }, again: []string{"new"}},
		"can be run":      {do: func(r *repo) { require.NoError(r.t, os.Chmod(r.path("a"), 0o755)) }, again: []string{"a"}, want: []string{"a"}},
		"another link":    {do: func(r *repo) { r.remove("link"); require.NoError(r.t, os.Symlink("d.x", r.path("link"))) }, again: []string{"link"}, want: []string{"link"}},
		"a folder":        {do: func(r *repo) { r.write("new/x", "") }, again: []string{"new"}},
		"a folder for it": {do: func(r *repo) { r.remove("a"); r.write("a/x", "") }, again: []string{"a"}, want: []string{"a"}},

		"removed":          {do: func(r *repo) { r.remove("a") }, want: []string{"a"}},
		"made and removed": {do: func(r *repo) { r.write("new", ""); r.remove("new") }},
		"staged":           {do: func(r *repo) { r.write("new", ""); r.git("add", "new") }},
		"a folder moved": {do: func(r *repo) { require.NoError(r.t, os.Rename(r.path("d/e"), r.path("f"))) },
			want: []string{"d/e/a", "d/e/b"}},
		"a folder moved away and back": {do: func(r *repo) {
			require.NoError(r.t, os.Rename(r.path("d"), r.path("f")))
			require.NoError(r.t, os.Rename(r.path("f"), r.path("d")))
		}},
		"a folder gone and back": {
			before: func(r *repo) { require.NoError(r.t, os.Rename(r.path("d"), r.path(".git/d"))) },
			do:     func(r *repo) { require.NoError(r.t, os.Rename(r.path(".git/d"), r.path("d"))) },
		},
		"a folder behind a link, and back": {
			before: func(r *repo) {
				require.NoError(r.t, os.Rename(r.path("d"), r.path(".git/d")))
				require.NoError(r.t, os.Symlink(".git/d", r.path("d")))
			},
			do: func(r *repo) { r.remove("d"); require.NoError(r.t, os.Rename(r.path(".git/d"), r.path("d"))) },
		},
		"the top moved away and back": {do: func(r *repo) {
			require.NoError(r.t, os.Rename(r.dir, r.dir+".away"))
			require.NoError(r.t, os.Rename(r.dir+".away", r.dir))
		}},
		"written by a second name": {do: func(r *repo) {
			require.NoError(r.t, os.Link(r.path("d/a"), r.path("b")))
			r.write("b", "other\n")
		}, again: []string{"b"}, want: []string{"d/a"}},
		"written by a second name that is gone": {do: func(r *repo) {
			require.NoError(r.t, os.Link(r.path("d/a"), r.path("b")))
			r.write("b", "other\n")
			r.remove("b")
		}, want: []string{"d/a"}},
		"written by a second name elsewhere": {
			before: func(r *repo) { require.NoError(r.t, os.Link(r.path("d/a"), r.path(".git/b"))) },
			do:     func(r *repo) { r.write(".git/b", "other\n") }, want: []string{"d/a"},
		},
		"too many": {do: func(r *repo) {
			for i := range 101 {
				r.write("d/n"+strconv.Itoa(i), "")
			}
			r.write("d/a", "other\n")
		}, want: []string{"d/a"}},
		"more events than the kernel keeps": {do: func(r *repo) {
			text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
			require.NoError(r.t, err)
			most, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(r.t, err)
			for i := range most + 2 {
				require.NoError(r.t, os.Chmod(r.path([]string{"d/a", "d/e/a"}[i%2]), 0o600))
			}
			r.write("a", "other\n")
		}, want: []string{"a", "d/a", "d/e/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := watchedRepo(t)
			for range 2 { // the second look goes on with the watch of the first
				_, ok := r.w.SuspectsAfterTool(t.Context())
				require.True(t, ok)
				if c.before != nil {
					c.before(r)
					c.before = nil
				}
			}
			c.do(r)
			again, ok := r.w.LookAgain()
			require.Equal(t, c.again != nil, ok, "%q", again)
			require.ElementsMatch(t, c.again, again)
			got, ok := r.w.Suspects(t.Context())
			require.True(t, ok)
			require.Subset(t, got, c.want)
			require.Subset(t, got, r.differs(), "what git finds is among them")
		})
	}
}

// After any changes between the look after a tool and the next one, the next one finds the same as git.
func TestServedLooksFindAllThatGitFinds(t *testing.T) {
	gitenv.Isolate(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 40 {
			return // each run starts some dozen children
		}
		r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n", "d/a": "1\n", "d/b": "2\n", "d/e/a": "1\n", "e.x": "1\n"})
		r.age()
		for range rapid.IntRange(1, 3).Draw(rt, "looks") {
			for _, e := range edits(rt) {
				r.perform(e)
			}
			_, ok := r.w.SuspectsAfterTool(t.Context())
			require.True(rt, ok)
			for _, e := range edits(rt) {
				r.perform(e)
				got, ok := r.w.Suspects(t.Context())
				require.True(rt, ok)
				require.Subset(rt, got, r.differs())
			}
		}
	})
}

// A file that a person saves between two tools is in the snapshot before the second, which tells a known destroyer's from others.
func TestSnapshotBetweenTools(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		t.Run(fmt.Sprint(fresh), func(t *testing.T) {
			r := watchedRepo(t)
			mark, err := r.w.Now(t.Context())
			require.NoError(t, err)
			after := r.snapshot(r.head(), worktree.SnapshotOptions{Since: &mark, Untracked: true})
			require.Empty(t, after.Changes)
			r.write("d/e/a", "saved\n")
			between := r.snapshot(after.Tree, worktree.SnapshotOptions{Fresh: fresh})
			require.Len(t, between.Changes, 1)
			require.Equal(t, "d/e/a", filepath.ToSlash(between.Changes[0].Path))
			require.Equal(t, "saved", r.git("cat-file", "blob", between.Changes[0].After))
			require.Empty(t, r.snapshot(between.Tree, worktree.SnapshotOptions{Fresh: fresh}).Changes)
		})
	}
}
