package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
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

// Objects are no safer than their names: git's children leave the flush of those to jp.
func TestNamesOfObjectsAreSynced(t *testing.T) {
	for name, volatile := range map[string]bool{"durable": false, "volatile": true} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"d/e/a": "1\n"})
			r.open(worktree.Options{Volatile: volatile})
			parent, there := r.head(), r.objects()
			var flushed []string
			made := map[string]bool{} // when the first was flushed
			r.w.OnFlush(func(path string) {
				flushed = append(flushed, path)
				if len(flushed) == 1 {
					made = r.objects()
				}
			})
			r.write("d/e/a", "2\n")
			_, err := r.w.Snapshot(t.Context(), parent, worktree.SnapshotOptions{})
			require.NoError(t, err)
			if volatile {
				require.Empty(t, flushed)
				return
			}
			require.Equal(t, r.objects(), made, "objects are made first")
			require.GreaterOrEqual(t, len(made)-len(there), 4)
			for object := range made {
				if !there[object] {
					require.Contains(t, flushed, filepath.Dir(object))
				}
			}
			require.Equal(t, r.path(".git/objects"), flushed[len(flushed)-1], "where the folders have their names")
		})
	}
}

// A file that is put back is flushed, whole, before it has its name: after a power cut it is whole, old or
// new.
func TestWhatIsPutBackIsSynced(t *testing.T) {
	for name, volatile := range map[string]bool{"durable": false, "volatile": true} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"d/a": "1\n"})
			r.open(worktree.Options{Volatile: volatile})
			s := r.tool(r.head(), func() { r.write("d/a", "2\n") })
			puts, seen := r.puts(r.head(), s.Tree), r.w.StatAll([]string{"d/a"})
			var flushed []string // the flushed files, and the state of the file then
			r.w.OnFlush(func(path string) {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				flushed = append(flushed, string(text), r.disk()["d/a"])
			})
			left, err := r.w.Restore(t.Context(), puts, seen, nil)
			require.NoError(t, err)
			require.Empty(t, left)
			require.Equal(t, "1\n", r.disk()["d/a"])
			if volatile {
				require.Empty(t, flushed)
				return
			}
			require.Equal(t, []string{"1\n", "2\n"}, flushed)
		})
	}
}

// objects are the files of loose objects.
func (r *repo) objects() map[string]bool {
	r.t.Helper()
	files, err := filepath.Glob(r.path(".git/objects/??/*"))
	require.NoError(r.t, err)
	objects := map[string]bool{}
	for _, file := range files {
		objects[file] = true
	}
	return objects
}

// TestObjectsAreSyncedAtOnce holds that on a file system that keeps the order of writes, the number of
// flushes is independent of that of the files, and the tree is the same.
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

// counted sums the counts of git's children under a name in their trace.
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

// Between looks the user edits as well: a note of an index must not hide it.
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
