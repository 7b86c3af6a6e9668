package worktree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// age makes all files an hour older than their index, which git then writes anew: git itself must read a
// file that is as old as the index to see a change.
func (r *repo) age() {
	r.t.Helper()
	then := unix.NsecToTimespec(time.Now().Add(-time.Hour).UnixNano())
	require.NoError(r.t, filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil || d.IsDir() || time.Since(info.ModTime()) > time.Minute {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{then, then}, unix.AT_SYMLINK_NOFOLLOW)
	}))
	r.git("update-index", "-q", "--really-refresh")
}

// agedRepo has files of every kind that git tracks.
func agedRepo(t *testing.T) *repo {
	r := newRepo(t, map[string]string{"a": "1\n", "d/a": "1\n", "d/e/a": "1\n", "d/e/b": "22\n", "d.x": "1\n", "run": "#!\n"})
	require.NoError(t, os.Chmod(r.path("run"), 0o755))
	require.NoError(t, os.Symlink("d/a", r.path("link")))
	r.git("add", "-A")
	r.git("commit", "-qm", "more")
	r.age()
	return r
}

func TestSuspects(t *testing.T) {
	all := []string{"a", "d.x", "d/a", "d/e/a", "d/e/b", "link", "run"}
	for name, c := range map[string]struct {
		do   func(r *repo)
		want []string // nil: git has to look at everything
	}{
		"nothing":         {func(*repo) {}, []string{}},
		"an older format": {func(r *repo) { r.git("update-index", "--index-version", "2") }, []string{}},
		"a newer format":  {func(r *repo) { r.git("update-index", "--index-version", "4") }, []string{}},
		"written":         {func(r *repo) { r.write("d/e/a", "other\n") }, []string{"d/e/a"}},
		"written, and as large and as old as before": {func(r *repo) {
			was, err := os.Stat(r.path("d/a"))
			require.NoError(r.t, err)
			r.write("d/a", "2\n")
			require.NoError(r.t, os.Chtimes(r.path("d/a"), was.ModTime(), was.ModTime()))
		}, []string{"d/a"}},
		"read":          {func(r *repo) { _, _ = os.ReadFile(r.path("a")) }, []string{}},
		"removed":       {func(r *repo) { r.remove("a") }, []string{"a"}},
		"a folder gone": {func(r *repo) { r.remove("d") }, []string{"d/a", "d/e/a", "d/e/b"}},
		"moved away and back": {func(r *repo) {
			require.NoError(r.t, os.Rename(r.path("d"), r.path("f")))
			require.NoError(r.t, os.Rename(r.path("f"), r.path("d")))
		}, []string{}},
		"a folder behind a link": {func(r *repo) {
			require.NoError(r.t, os.Rename(r.path("d/e"), r.path("f")))
			require.NoError(r.t, os.Symlink("../f", r.path("d/e")))
		}, []string{"d/e/a", "d/e/b"}},
		"a folder for a file": {func(r *repo) { r.remove("a"); r.write("a/x", "") }, []string{"a"}},
		"a file for a folder": {func(r *repo) { r.remove("d/e"); r.write("d/e", "") }, []string{"d/e/a", "d/e/b"}},
		"a link for a file": {func(r *repo) {
			r.remove("a")
			require.NoError(r.t, os.Symlink("d/a", r.path("a")))
		}, []string{"a"}},
		"another link": {func(r *repo) { r.remove("link"); require.NoError(r.t, os.Symlink("d.x", r.path("link"))) }, []string{"link"}},
		"can be run":   {func(r *repo) { require.NoError(r.t, os.Chmod(r.path("a"), 0o755)) }, []string{"a"}},
		"as old as index": {func(r *repo) {
			r.write("new", "1\n")
			later := time.Now().Add(time.Hour)
			require.NoError(r.t, os.Chtimes(r.path("new"), later, later))
			r.git("add", "new")
		}, []string{"new"}},
		"to be added": {func(r *repo) { r.write("new", "1\n"); r.git("add", "-N", "new") }, []string{"new"}},
		"to be added, and empty": {func(r *repo) {
			r.write("new", "")
			r.git("add", "-N", "new")
			r.age()
		}, []string{"new"}},
		"empty":             {func(r *repo) { r.write("new", ""); r.git("add", "new"); r.age() }, []string{}},
		"assumed unchanged": {func(r *repo) { r.git("update-index", "--assume-unchanged", "a"); r.write("a", "other\n") }, []string{"a"}},
		"skipped":           {func(r *repo) { r.git("update-index", "--skip-worktree", "a"); r.remove("a") }, []string{}},
		"skipped and there": {func(r *repo) { r.git("update-index", "--skip-worktree", "a"); r.write("a", "other\n") }, []string{"a"}},
		"a submodule": {func(r *repo) {
			r.git("clone", "-q", r.dir, r.path("sub"))
			r.git("add", "sub")
		}, []string{"sub"}},
		"an untracked cache": {func(r *repo) { r.git("update-index", "--force-untracked-cache"); r.git("status") }, []string{}},
		"a split index":      {func(r *repo) { r.git("update-index", "--split-index") }, nil},
		"a sparse index":     {func(r *repo) { r.git("sparse-checkout", "set", "--cone", "--sparse-index", "f") }, nil},
		"a sparse checkout":  {func(r *repo) { r.git("sparse-checkout", "set", "--cone", "f") }, []string{}},
		"a conflict": {func(r *repo) {
			r.git("checkout", "-q", "-b", "other", "HEAD~")
			r.write("run", "other\n")
			r.git("commit", "-qam", "other")
			r.git("checkout", "-q", "main")
			r.write("run", "more\n")
			r.git("commit", "-qam", "more")
			merge := exec.CommandContext(r.t.Context(), "git", "merge", "-q", "other")
			merge.Dir = r.dir
			require.Error(r.t, merge.Run(), "a conflict")
		}, nil},
		"a path that is too deep": {func(r *repo) {
			deep := strings.Repeat("d/", 70) + "x"
			r.write(deep, "1\n")
			r.git("add", deep)
			r.age()
		}, nil},
		"a path that is too long": {func(r *repo) {
			r.git("update-index", "--add", "--cacheinfo", "100644,"+r.git("rev-parse", "HEAD:a")+","+strings.Repeat("long/", 2000)+"x")
		}, nil},
		"no index":        {func(r *repo) { r.remove(".git/index") }, nil},
		"a damaged index": {func(r *repo) { r.write(".git/index", "DIRC") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := agedRepo(t)
			c.do(r)
			got, ok := r.w.Suspects(t.Context())
			require.Equal(t, c.want != nil, ok, "%q", got)
			if !ok {
				return
			}
			require.ElementsMatch(t, c.want, got)
			require.Subset(t, got, r.differs(), "what git finds is among them")
			require.Subset(t, append(all, "new", "sub"), got)
		})
	}
}

// differs are the paths at which git says that something differs from the index.
func (r *repo) differs() []string {
	out := strings.TrimSuffix(r.git("diff-files", "-z", "--name-only", "--ignore-submodules=dirty"), "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// Many suspects are too many to look at one by one.
func TestTooManySuspects(t *testing.T) {
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = "1\n"
	}
	r := newRepo(t, files)
	r.age()
	got, ok := r.w.Suspects(t.Context())
	require.True(t, ok)
	require.Empty(t, got)
	for i := range 101 {
		r.write(fmt.Sprintf("d%d/f%d", i%7, i), "22\n")
	}
	_, ok = r.w.Suspects(t.Context())
	require.False(t, ok)
	changes := r.snapshot(r.head(), worktree.SnapshotOptions{}).Changes
	require.Len(t, changes, 101)
}

// After any changes to files, those that git finds changed are suspect, and untouched ones are not.
func TestSuspectsAreAllThatGitFinds(t *testing.T) {
	gitenv.Isolate(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 40 {
			return // each run starts some dozen children
		}
		files := map[string]string{"a": "1\n", "b": "1\n", "d/a": "1\n", "d/b": "2\n", "d/e/a": "1\n", "e.x": "1\n", "untouched": "1\n", "z/untouched": "1\n"}
		r := newRepo(t, files)
		r.git("update-index", "--index-version", rapid.SampledFrom([]string{"2", "4"}).Draw(rt, "version"))
		r.age()
		for _, e := range edits(rt) {
			r.perform(e)
			if rapid.Bool().Draw(rt, "stage") {
				r.git("add", "-A")
			}
		}
		got, ok := r.w.Suspects(t.Context())
		require.True(rt, ok)
		require.Subset(rt, got, r.differs())
		require.False(rt, slices.Contains(got, "untouched") || slices.Contains(got, "z/untouched"), "%q", got)
	})
}
