package worktree_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/worktree"
)

// process takes a snapshot after a tool, in process if possible, and reports whether it was. A second look
// finds no change.
func (r *repo) process(parent string, edits func()) (s worktree.Snapshot, inProcess bool) {
	r.t.Helper()
	mark := r.mark()
	edits()
	before := r.fingerprint()
	s, err := r.w.Snapshot(r.t.Context(), parent, worktree.SnapshotOptions{Since: mark, Untracked: true, Objects: reader{r.dir}})
	require.NoError(r.t, err)
	r.store(s.Objects)
	require.Equal(r.t, r.addAll(), s.Tree)
	require.Equal(r.t, before, r.fingerprint(), "something of the user's changed")
	again, err := r.w.Snapshot(r.t.Context(), s.Tree, worktree.SnapshotOptions{Objects: reader{r.dir}})
	require.NoError(r.t, err)
	require.Equal(r.t, worktree.Snapshot{Tree: s.Tree}, again)
	return s, s.Objects != nil
}

func (r *repo) clean() string {
	r.t.Helper()
	tree := r.head()
	return r.snapshot(tree, worktree.SnapshotOptions{}).Tree
}

func TestFewChangesAreRecordedInProcess(t *testing.T) {
	r := newRepo(t, map[string]string{"keep": "1\n", "edit": "1\n2\n", "drop": "x\n", "d/e/f": "deep\n"})
	tree := r.clean()
	s, inProcess := r.process(tree, func() {
		r.write("edit", "1\n3\n4\n")
		r.write("new/file", "n\n")
		r.remove("drop")
		r.write("d/e/f", "deeper\n")
	})
	require.True(t, inProcess)
	require.NoFileExists(t, r.path(".git/jp/index"), "git was asked")
	require.Equal(t, []string{"M d/e/f", "D drop", "M edit", "A new/file"}, paths(s.Changes))
	require.Equal(t, []int{2, 1}, []int{s.Changes[2].Added, s.Changes[2].Deleted})

	for _, tt := range []struct {
		name string
		step func()
	}{
		{"changed once more", func() { r.write("edit", "5\n"); r.write("new/file", "m\n") }},
		{"as the index has it", func() { r.write("edit", "1\n2\n"); r.write("drop", "x\n") }},
		{"a new one is gone", func() { r.remove("new") }},
		{"a file becomes a folder", func() { r.remove("edit"); r.write("edit/a", "a\n") }},
		{"and a folder a file", func() { r.remove("edit"); r.write("edit", "a\n") }},
		{"the user stages", func() { r.git("add", "-A"); r.write("keep", "2\n") }},
		{"the user commits", func() { r.git("add", "-A"); r.git("commit", "-qm", "all"); r.write("keep", "3\n") }},
		{"not even a line", func() { r.write("keep", "") }},
		{"a link", func() { r.remove("keep"); require.NoError(t, os.Symlink("edit", r.path("keep"))) }},
		{"executable", func() { r.write("run", "#!/bin/sh\n"); require.NoError(t, os.Chmod(r.path("run"), 0o755)) }},
		{"more than in process", func() {
			for i := range 70 {
				r.write(fmt.Sprintf("many/%d", i), "x")
			}
		}},
		{"line ends that git changes", func() { r.write(".gitattributes", "*.txt text\n"); r.write("a.txt", "a\r\nb\r\n") }},
	} {
		s, _ = r.process(s.Tree, tt.step)
		require.NotEmpty(t, s.Changes, tt.name)
	}
}

// A new file that was recorded and then removed is forgotten: if the user makes it anew, it is the user's.
func TestWhatWasTakenAwayIsForgotten(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	with, inProcess := r.process(r.clean(), func() { r.write("new", "1\n") })
	require.True(t, inProcess)
	without, inProcess := r.process(with.Tree, func() { r.remove("new"); r.write("a", "2\n") })
	require.True(t, inProcess)
	r.write("new", "the user's\n")
	s, err := r.w.Snapshot(t.Context(), without.Tree, worktree.SnapshotOptions{Objects: reader{r.dir}})
	require.NoError(t, err)
	require.Equal(t, without.Tree, s.Tree)
}

// After the snapshot of named paths the next one does not need git.
func TestNamedPathsAreFollowed(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
	tree := r.clean()
	r.write("a", "2\n")
	r.write("new", "1\n")
	named, ok, err := r.w.SnapshotPaths(t.Context(), tree, []string{"a", "new"}, reader{r.dir})
	require.NoError(t, err)
	require.True(t, ok)
	r.store(named.Objects)
	s, inProcess := r.process(named.Tree, func() { r.write("b", "2\n") })
	require.True(t, inProcess)
	require.Equal(t, []string{"M b"}, paths(s.Changes))
	r.remove("new")
	named, ok, err = r.w.SnapshotPaths(t.Context(), s.Tree, []string{"new"}, reader{r.dir})
	require.NoError(t, err)
	require.True(t, ok)
	r.store(named.Objects)
	s, inProcess = r.process(named.Tree, func() { r.write("b", "3\n") })
	require.True(t, inProcess, "git said whether the index has the path that is gone")
	require.Equal(t, []string{"M b"}, paths(s.Changes))
}

// Only git knows the work of filters, and submodules.
func TestWhatOnlyGitRecords(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", ".gitattributes": "*.f ident\n"})
	tree := r.clean()
	s, inProcess := r.process(tree, func() { r.write("x.f", "$Id$\n") })
	require.False(t, inProcess)
	_, inProcess = r.process(s.Tree, func() {
		r.git("init", "-q", "sub")
		r.git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "x")
		r.git("add", "sub")
		r.write("a", "2\n")
	})
	require.False(t, inProcess)
}

func TestInProcessIsInspected(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	tree := r.clean()
	r.inspected()
	mark := r.mark()
	r.write("a", "secret\n")
	r.write("b", "2\n")
	s, err := r.w.Snapshot(t.Context(), tree, worktree.SnapshotOptions{Since: mark, Untracked: true, Objects: reader{r.dir}})
	require.NoError(t, err)
	require.Equal(t, []string{"A b"}, paths(s.Changes))
	require.NotEmpty(t, s.Objects)
	require.Equal(t, []worktree.Skipped{{Path: "a", Why: "a secret"}}, s.LeftOut)
}

// A path that was recorded in process and is left out later is still missing in the index: when its file is
// gone, it is gone.
func TestWhatIsLeftOutLaterIsNotForgotten(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	with, inProcess := r.process(r.clean(), func() { r.write("new", "1\n") })
	require.True(t, inProcess)
	mark := r.mark()
	r.remove("new")
	require.NoError(t, unix.Mkfifo(r.path("new"), 0o600))
	r.write("a", "2\n")
	s, err := r.w.Snapshot(t.Context(), with.Tree, worktree.SnapshotOptions{Since: mark, Untracked: true, Objects: reader{r.dir}})
	require.NoError(t, err)
	require.Equal(t, []string{"new"}, leftPaths(s.LeftOut))
	require.Equal(t, []string{"M a"}, paths(s.Changes))
	r.store(s.Objects)
	s, _ = r.process(s.Tree, func() { r.remove("new") })
	require.Equal(t, []string{"D new"}, paths(s.Changes))
}

// Recorded content is not new content.
func TestWhatIsAsRecordedSpendsNothing(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
	tree := r.clean()
	r.open(worktree.Options{NewContent: 100})
	first := r.after(tree, nil, func() { r.write("a", strings.Repeat("a", 90)) })
	require.Equal(t, []string{"M a"}, paths(first.Changes))
	second := r.after(first.Tree, nil, func() { r.write("b", strings.Repeat("b", 90)) })
	require.Empty(t, second.LeftOut)
	require.Equal(t, []string{"M b"}, paths(second.Changes))
}
