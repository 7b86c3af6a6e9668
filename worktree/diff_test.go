package worktree_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

func TestDiffRunsNoProgram(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n2\n", "gone": "x\n", ".gitattributes": "* diff=d\n"})
	from := r.head()
	marker := filepath.Join(t.TempDir(), "ran")
	for _, key := range []string{"diff.external", "diff.d.command", "diff.d.textconv"} {
		r.git("config", key, "touch "+marker)
	}
	r.git("mv", "gone", "renamed")
	r.write("a", "1\n3\n")
	r.write("bin", "\x00")
	r.git("add", "-A")
	to := r.git("write-tree")

	changes, err := r.w.Diff(t.Context(), from, to)
	require.NoError(t, err)
	require.Equal(t, []string{"M a", "A bin", "D gone", "A renamed"}, paths(changes))
	require.Equal(t, []int{1, 1}, []int{changes[0].Added, changes[0].Deleted})
	require.Equal(t, []int{-1, -1}, []int{changes[1].Added, changes[1].Deleted})
	none, err := r.w.Diff(t.Context(), to, to)
	require.NoError(t, err)
	require.Empty(t, none)

	patch, err := r.w.Patch(t.Context(), from, to, []string{"a"}, false)
	require.NoError(t, err)
	require.Contains(t, string(patch), "-2\n+3\n")
	require.NotContains(t, string(patch), "bin")
	require.NoFileExists(t, marker)
	_, err = r.w.Diff(t.Context(), "--output="+marker, to)
	require.Error(t, err)
	require.NoFileExists(t, marker)
}

func TestPatchApplies(t *testing.T) {
	for _, program := range []bool{false, true} {
		r := newRepo(t, map[string]string{"a": "1\n2\n", "gone": "x\n"})
		from := r.head()
		s := r.tool(from, func() {
			r.write("a", "1\n")
			r.remove("gone")
			r.write("bin", "\x00\x01")
			r.write("größe\u202e\u009b", "1\n")
		})
		patch, err := r.w.Patch(t.Context(), from, s.Tree, nil, program)
		require.NoError(t, err)
		require.Equal(t, !program, strings.Contains(string(patch), "größe"))
		require.Equal(t, !program, strings.Contains(string(patch), "\u202e"))
		r.git("stash", "-q", "-u")
		cmd := exec.Command("git", "apply", "--cached")
		cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(string(patch))
		require.NoError(t, cmd.Run())
		require.Equal(t, s.Tree, r.git("write-tree"))
	}
}

func TestMutationLockWaitsForTheOther(t *testing.T) {
	r := newRepo(t, nil)
	unlock, err := r.w.LockMutation(t.Context())
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = r.w.LockMutation(short)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	got := make(chan error, 1)
	go func() {
		second, err := r.w.LockMutation(t.Context())
		if err == nil {
			second()
		}
		got <- err
	}()
	unlock()
	require.NoError(t, <-got)
	require.FileExists(t, r.path(".git/jp/mutation.lock"))
}

func TestMark(t *testing.T) {
	r := newRepo(t, nil)
	before := r.fingerprint()
	first := r.mark()
	r.write("f", "x")
	require.NoError(t, os.Chtimes(r.path("f"), time.Unix(1, 0), time.Unix(1, 0)))
	s := r.snapshot(r.head(), worktree.SnapshotOptions{Since: first, Untracked: true})
	require.Equal(t, []string{"A f"}, paths(s.Changes), "a set modification time is no evidence")
	r.remove("f")
	require.Equal(t, before, r.fingerprint(), "no probe is left")
}

// If no mark was kept, a moment of the clock stands for one: later writes are found, although files have
// the times of a slower clock.
func TestMarkOfAMoment(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	for i := range 20 {
		since := worktree.MarkAt(time.Now())
		name := fmt.Sprintf("made-%02d", i)
		r.write(name, "1\n")
		s := r.snapshot(r.head(), worktree.SnapshotOptions{Since: &since, Untracked: true})
		require.Contains(t, paths(s.Changes), "A "+name)
	}
	later := worktree.MarkAt(time.Now().Add(time.Hour))
	require.Empty(t, r.snapshot(r.head(), worktree.SnapshotOptions{Since: &later, Untracked: true}).Changes)
}
