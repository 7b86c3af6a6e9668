package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

// git's own trace counts the syncs of its children.
func TestObjectsAreSynced(t *testing.T) {
	for name, volatile := range map[string]bool{"durable": false, "volatile": true} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"d/e/a": "1\n"})
			r.open(worktree.Options{Volatile: volatile})
			parent := r.head()
			trace := filepath.Join(t.TempDir(), "trace")
			r.git("config", "--global", "trace2.eventTarget", trace)
			r.write("d/e/a", "2\n")
			_, err := r.w.Snapshot(t.Context(), parent, worktree.SnapshotOptions{})
			require.NoError(t, err)
			text, err := os.ReadFile(trace)
			require.NoError(t, err)
			require.Contains(t, string(text), "write-tree")
			require.Equal(t, !volatile, strings.Contains(string(text), "fsync/hardware-flush"))
		})
	}
}

// TestObjectsAreSyncedAtOnce holds that where the order of writes is kept the number
// of flushes does not depend on that of the files, and the tree is the same.
func TestObjectsAreSyncedAtOnce(t *testing.T) {
	const files = 100
	trees, flushes, written := map[bool]string{}, map[bool]int{}, map[bool]int{}
	for _, ordered := range []bool{false, true} {
		r := newRepo(t, map[string]string{"0": "1\n"})
		for i := range files {
			r.write(fmt.Sprint(i), "1\n")
		}
		r.git("add", ".")
		r.git("commit", "-qm", "many")
		r.open(worktree.Options{Ordered: ordered})
		parent := r.head()
		trace := filepath.Join(t.TempDir(), "trace")
		r.git("config", "--global", "trace2.eventTarget", trace)
		for i := range files {
			r.write(fmt.Sprint(i), fmt.Sprintf("changed %d\n", i))
		}
		s, err := r.w.Snapshot(t.Context(), parent, worktree.SnapshotOptions{})
		require.NoError(t, err)
		trees[ordered] = s.Tree
		flushes[ordered], written[ordered] = counted(t, trace, "fsync/hardware-flush"), counted(t, trace, "fsync/writeout-only")
		require.Empty(t, r.git("fsck", "--strict", "--no-dangling"))
	}
	require.Equal(t, trees[false], trees[true])
	require.GreaterOrEqual(t, flushes[false], files)
	require.Less(t, flushes[true], 10)
	require.GreaterOrEqual(t, written[true], files)
}

// counted sums what git's children counted under a name in their trace.
func counted(t *testing.T, trace, name string) (sum int) {
	t.Helper()
	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	for _, match := range regexp.MustCompile(`"`+name+`","value":"(\d+)"`).FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		sum += n
	}
	return sum
}

// git flushes what it writes, and not the folders in which that has its name.
func TestFoldersOfObjectsAreFlushed(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	flushed := map[string]bool{}
	r.w.OnSync(func(path string) error {
		flushed[path] = true
		return nil
	})
	r.write("a", "2\n")
	tree := r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree
	for _, oid := range []string{tree, r.git("rev-parse", tree+":a")} {
		require.True(t, flushed[r.path(".git/objects/"+oid[:2])], oid)
	}
	require.True(t, flushed[r.path(".git/objects")])

	r.w.OnSync(func(string) error { return syscall.EIO })
	r.write("a", "3\n")
	_, err := r.w.Snapshot(t.Context(), tree, worktree.SnapshotOptions{})
	require.ErrorIs(t, err, syscall.EIO)
}

func TestUnreachableObjectFolderIsAnError(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	parent := r.head()
	require.NoError(t, os.Rename(r.path(".git/objects"), r.path(".git/elsewhere")))
	r.write("a", "2\n")
	_, err := r.w.Snapshot(t.Context(), parent, worktree.SnapshotOptions{})
	require.Error(t, err)
	require.NoFileExists(t, r.path(".git/jp/index.json"), "no note of a tree that was not made")
}

// The user's git add while a snapshot is made must be seen by the next one.
func TestIndexThatMovesMeanwhile(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	s := r.tool(r.head(), func() { r.write("a", "2\n") })
	r.write("late", "x\n")
	r.git("add", "late")
	r.write("a", "3\n")
	next := r.snapshot(s.Tree, worktree.SnapshotOptions{})
	require.Equal(t, []string{"M a", "A late"}, paths(next.Changes))
}

// Conversations share a working tree, and so its lock and kept index.
func TestConcurrentSnapshots(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
	head := r.head()
	first := r.tool(head, func() { r.write("extra", "x\n") })
	r.write("a", "2\n")
	want := map[string]string{}
	for _, parent := range []string{head, first.Tree} {
		want[parent] = r.snapshot(parent, worktree.SnapshotOptions{}).Tree
	}
	require.Len(t, want, 2)
	var wg sync.WaitGroup
	for _, parent := range []string{head, first.Tree, head, first.Tree} {
		wg.Go(func() {
			s, err := r.w.Snapshot(t.Context(), parent, worktree.SnapshotOptions{})
			if err != nil || s.Tree != want[parent] {
				t.Errorf("from %s: %s, want %s, error %v", parent, s.Tree, want[parent], err)
			}
		})
	}
	wg.Wait()
}

// Between looks the user edits as well: no note of an index may hide it.
func TestChangeAfterAQuietLook(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	r.snapshot(r.head(), worktree.SnapshotOptions{})
	r.write("a", "22\n")
	require.Equal(t, "22\n", r.files(r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree)["a"])
	r.git("rm", "-q", "--cached", "a")
	r.remove("a")
	s := r.snapshot(r.head(), worktree.SnapshotOptions{})
	require.NotContains(t, r.files(s.Tree), "a")
}
