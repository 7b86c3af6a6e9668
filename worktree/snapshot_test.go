package worktree_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/safefile"
	"jp/internal/testing/gitenv"
	"jp/worktree"
)

func TestNothingMovedIsTheParentsTree(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	s := r.snapshot(r.head(), worktree.SnapshotOptions{})
	require.Equal(t, worktree.Snapshot{Tree: r.head()}, s)
	require.NoFileExists(t, r.path(".git/jp/index"), "no copy of the index")
}

func TestTouchedButEqualIsTheParentsTree(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	r.write("a", "1\n")
	require.NoError(t, os.Chtimes(r.path("a"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	s := r.snapshot(r.head(), worktree.SnapshotOptions{})
	require.Equal(t, r.head(), s.Tree)
	require.Empty(t, s.Changes)
}

func TestToolAddsChangesAndDeletes(t *testing.T) {
	r := newRepo(t, map[string]string{"keep": "1\n", "edit": "1\n2\n", "drop": "x\n", "d/e/f": "deep\n"})
	s := r.tool(r.head(), func() {
		r.write("edit", "1\n3\n4\n")
		r.write("new/file", "n\n")
		r.write("bin", "\x00\x01")
		r.remove("drop")
		r.write("d/e/f", "deeper\n")
	})
	require.Equal(t, r.addAll(), s.Tree)
	require.Equal(t, []string{"A bin", "M d/e/f", "D drop", "M edit", "A new/file"}, paths(s.Changes))
	edit := s.Changes[3]
	require.Equal(t, []int{2, 1}, []int{edit.Added, edit.Deleted})
	require.Equal(t, -1, s.Changes[0].Added)
	require.Empty(t, s.Changes[2].After)
	require.Empty(t, s.Changes[4].Before)
	require.Empty(t, r.git("for-each-ref", "refs/jp"))
}

// The files change in the second in which the user's index was written, to the
// same size, and the copy is made in a later one: only the index's own time
// tells git to compare their content.
func TestRacyIndex(t *testing.T) {
	r := newRepo(t, nil)
	const tries = 20
	for i := range tries {
		name := fmt.Sprintf("f%d", i)
		r.write(name, "aaa\n")
		r.git("add", name)
		r.write(name, "bbb\n")
	}
	nextSecond(t)
	files := r.files(r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree)
	for i := range tries {
		require.Equal(t, "bbb\n", files[fmt.Sprintf("f%d", i)], "file %d", i)
	}
}

// The same in the second in which the kept index was written.
func TestRacyKeptIndex(t *testing.T) {
	r := newRepo(t, map[string]string{"f": "0", "g": "0"})
	tree := r.head()
	take := func() {
		s, err := r.w.Snapshot(t.Context(), tree, worktree.SnapshotOptions{})
		require.NoError(t, err)
		tree = s.Tree
	}
	for i := range 10 {
		r.write("f", string(rune('a'+i)))
		take()
		r.write("f", string(rune('A'+i)))
		take()
		require.Equal(t, string(rune('A'+i)), r.files(tree)["f"], "try %d", i)
	}
	r.write("f", "!")
	nextSecond(t)
	r.write("g", "1")
	take()
	require.Equal(t, "!", r.files(tree)["f"])
}

// nextSecond returns in another second than that of the call: git compares
// file times in whole seconds.
func nextSecond(t *testing.T) {
	t.Helper()
	now := time.Now().Unix()
	require.Eventually(t, func() bool { return time.Now().Unix() > now }, 5*time.Second, 5*time.Millisecond)
}

func TestUsersUntrackedFilesStayOut(t *testing.T) {
	r := newRepo(t, map[string]string{".gitignore": "*.log\n"})
	r.write("mine", "private\n")
	waitForTick(t, r)
	mark := r.mark()
	r.write("tools", "made\n")
	r.write("out.log", "ignored\n")
	s := r.snapshot(r.head(), worktree.SnapshotOptions{Since: mark, Untracked: true})
	require.Equal(t, []string{"A tools"}, paths(s.Changes))

	before := r.snapshot(s.Tree, worktree.SnapshotOptions{})
	require.Equal(t, s.Tree, before.Tree, "what a tool made stays without a look at untracked files")
}

// waitForTick returns when the file system gives later times than before.
func waitForTick(t *testing.T, r *repo) {
	t.Helper()
	first := r.mark()
	require.Eventually(t, func() bool { return *r.mark() != *first }, 5*time.Second, time.Millisecond)
}

func TestCarriedFiles(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	first := r.tool(r.head(), func() { r.write("extra", "x\n"); r.write("gone", "y\n") })
	r.remove("gone")
	r.write("extra", "changed outside\n")
	second := r.snapshot(first.Tree, worktree.SnapshotOptions{})
	require.Equal(t, []string{"M extra", "D gone"}, paths(second.Changes))

	// Another conversation in the same working tree has its own tree.
	other := r.snapshot(r.head(), worktree.SnapshotOptions{})
	require.Equal(t, r.head(), other.Tree)

	// The user tracks something else meanwhile: the copy is made anew.
	r.write("b", "2\n")
	r.git("add", "b")
	third := r.snapshot(second.Tree, worktree.SnapshotOptions{})
	require.Equal(t, []string{"A b"}, paths(third.Changes))
	require.Contains(t, r.files(third.Tree), "extra")

	// Told to be ignored, it still stays.
	r.write(".gitignore", "extra\n")
	r.git("add", ".gitignore")
	fourth := r.snapshot(third.Tree, worktree.SnapshotOptions{})
	require.Contains(t, r.files(fourth.Tree), "extra")
}

func TestCheckoutOfAnotherBranchIsSeen(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	was := r.head()
	r.git("switch", "-q", "-c", "side")
	r.write("b", "2\n")
	r.git("add", "b")
	r.git("commit", "-qm", "b")
	s := r.snapshot(was, worktree.SnapshotOptions{})
	require.Equal(t, r.head(), s.Tree)
	r.git("switch", "-q", "main")
	s = r.snapshot(s.Tree, worktree.SnapshotOptions{})
	require.Equal(t, was, s.Tree)
}

func TestSecretsAndLargeFilesStayOut(t *testing.T) {
	r := newRepo(t, map[string]string{"tracked.bin": "small"})
	r.open(worktree.Options{NewFile: 1000, NewContent: 5000})
	s := r.tool(r.head(), func() {
		r.write("sub/.env.local", "K=1\n")
		r.write("KEY.PEM", "k\n")
		r.write("id_ed25519", "k\n")
		r.write("fits", strings.Repeat("x", 1000))
		r.write("large", strings.Repeat("x", 1001))
		r.write("tracked.bin", strings.Repeat("x", 5001))
	})
	require.Equal(t, []string{"A fits"}, paths(s.Changes))
	require.Equal(t, []string{"KEY.PEM", "id_ed25519", "large", "sub/.env.local", "tracked.bin"}, leftPaths(s.LeftOut))
	require.Equal(t, "small", r.files(s.Tree)["tracked.bin"])
}

func TestBudgetIsForTheSum(t *testing.T) {
	r := newRepo(t, nil)
	r.open(worktree.Options{NewContent: 250})
	mark := r.mark()
	for _, name := range []string{"a", "b", "c"} {
		r.write(name, strings.Repeat(name, 100))
	}
	s, err := r.w.Snapshot(t.Context(), r.head(), worktree.SnapshotOptions{Since: mark, Untracked: true})
	require.NoError(t, err)
	require.Len(t, s.Changes, 2)
	require.Len(t, s.LeftOut, 1)
}

// Spending the last byte of the budget does not exceed it.
func TestContentOfTheWholeBudgetIsTaken(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	r.open(worktree.Options{NewContent: 200})
	s := r.tool(r.head(), func() { r.write("a", strings.Repeat("a", 100)); r.write("b", strings.Repeat("b", 100)) })
	require.Equal(t, []string{"M a", "A b"}, paths(s.Changes))
	require.Empty(t, s.LeftOut)
}

func TestIgnoredNamedFileIsListed(t *testing.T) {
	r := newRepo(t, map[string]string{".gitignore": "*.log\n"})
	s := r.tool(r.head(), func() { r.write("out.log", "x\n"); r.write("in.txt", "x\n") }, "out.log", "in.txt", "absent")
	require.Equal(t, []string{"A in.txt"}, paths(s.Changes))
	require.Equal(t, []worktree.Skipped{{Path: "out.log", Why: "ignored"}}, s.LeftOut)
}

func TestNamedFileOfAnotherRepositoryIsListed(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "a"})
	r.git("init", "-q", "sub")
	s := r.tool(r.head(), func() { r.write("sub/f", "x\n") }, "sub/f")
	require.Empty(t, s.Changes)
	require.Equal(t, []worktree.Skipped{{Path: "sub/f", Why: "in another repository"}}, s.LeftOut)
	s = r.tool(r.head(), func() { r.write("sub/f", "y\n"); r.write("sub/g", "x\n") }, "sub/f")
	require.Equal(t, []worktree.Skipped{{Path: "sub", Why: "changed inside another repository"}, {Path: "sub/f", Why: "in another repository"}}, s.LeftOut)
}

func TestUnbornHeadAndNoIndex(t *testing.T) {
	gitenv.Isolate(t)
	r := &repo{t: t, dir: t.TempDir()}
	r.git("init", "-q")
	r.open(worktree.Options{})
	require.Equal(t, r.w.Repository().ObjectFormat.EmptyTree(), r.head())
	require.NoFileExists(t, r.path(".git/index"))
	s := r.tool(r.head(), func() { r.write("a", "1\n") })
	require.Equal(t, []string{"A a"}, paths(s.Changes))
	s = r.tool(s.Tree, func() { r.remove("a") })
	require.Equal(t, r.w.Repository().ObjectFormat.EmptyTree(), s.Tree)
	require.NoFileExists(t, r.path(".git/index"))
}

func TestLinkedWorktreeIsOnItsOwn(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	linked := &repo{t: t, dir: filepath.Join(t.TempDir(), "other")}
	r.git("worktree", "add", "-q", "--detach", linked.dir)
	linked.open(worktree.Options{})
	s := linked.tool(linked.head(), func() { linked.write("a", "2\n"); linked.write("n", "n\n") })
	require.Equal(t, []string{"M a", "A n"}, paths(s.Changes))
	require.Equal(t, r.head(), r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree)
	require.FileExists(t, r.path(".git/worktrees/other/jp/snapshot.lock"))
	r.git("worktree", "remove", "--force", linked.dir)
}

func TestTooWide(t *testing.T) {
	r := newRepo(t, nil)
	r.open(worktree.Options{Home: r.dir})
	_, err := r.w.Snapshot(t.Context(), r.head(), worktree.SnapshotOptions{})
	require.ErrorIs(t, err, worktree.ErrTooWide)
	_, _, err = r.w.SnapshotPaths(t.Context(), r.head(), []string{"a"}, nil)
	require.ErrorIs(t, err, worktree.ErrTooWide)
	r.open(worktree.Options{Home: filepath.Dir(r.dir)})
	_, err = r.w.Snapshot(t.Context(), r.head(), worktree.SnapshotOptions{})
	require.NoError(t, err, "a folder below the home folder is fine")
}

func TestModeOff(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	r.open(worktree.Options{Mode: worktree.Off})
	r.write("a", "2\n")
	require.Equal(t, r.head(), r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree)
	_, err := worktree.Open(t.Context(), r.w.Repository(), worktree.Options{Mode: "sometimes"})
	require.ErrorContains(t, err, "sometimes")
	_, err = worktree.Open(t.Context(), gitcmd.Repository{GitDir: "/x.git"}, worktree.Options{})
	require.ErrorIs(t, err, worktree.ErrNoWorktree)
}

func TestBadNamesAreRefused(t *testing.T) {
	r := newRepo(t, nil)
	for _, bad := range []string{"", "/etc/passwd", "../x", "a/../b", "a//b", ".git/config", "a/.GIT/x", "./a", "a\x00b"} {
		_, err := r.w.Snapshot(t.Context(), r.head(), worktree.SnapshotOptions{Named: []string{bad}})
		require.ErrorIs(t, err, worktree.ErrBadPath, "%q", bad)
		_, _, err = r.w.SnapshotPaths(t.Context(), r.head(), []string{bad}, nil)
		require.ErrorIs(t, err, worktree.ErrBadPath, "%q", bad)
	}
}

func TestParentMustBeATreeID(t *testing.T) {
	r := newRepo(t, nil)
	for _, bad := range []string{"", "HEAD^{tree}", "--output=x", strings.Repeat("g", 40)} {
		_, err := r.w.Snapshot(t.Context(), bad, worktree.SnapshotOptions{})
		require.ErrorIs(t, err, worktree.ErrBadTree, "%q", bad)
		_, _, err = r.w.SnapshotPaths(t.Context(), bad, nil, nil)
		require.ErrorIs(t, err, worktree.ErrBadTree, "%q", bad)
	}
}

func TestInterruptedSnapshotLeavesNothingStale(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	s := r.tool(r.head(), func() { r.write("a", "2\n") })
	r.write(".git/jp/index.lock", "left by a kill")
	require.NoError(t, os.Truncate(r.path(".git/jp/index"), 100))
	next := r.tool(s.Tree, func() { r.write("a", "3\n") })
	require.Equal(t, "3\n", r.files(next.Tree)["a"])
}

// An index from before a restart of the machine is checked again.
func TestTheNoteOfAnotherStartIsNotBelieved(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	older := r.head()
	r.write("a", "2\n")
	r.git("commit", "-qam", "2")
	r.snapshot(r.head(), worktree.SnapshotOptions{})
	text, err := os.ReadFile(r.path(".git/jp/index.json"))
	require.NoError(t, err)
	note := strings.Replace(string(text), r.head(), older, 1) // which is wrong
	note = strings.Replace(note, `"boot":"`, `"boot":"another `, 1)
	require.Contains(t, note, older)
	require.Contains(t, note, "another ")
	r.write(".git/jp/index.json", note)
	s := r.snapshot(older, worktree.SnapshotOptions{})
	require.Equal(t, r.head(), s.Tree)
	require.Equal(t, []string{"M a"}, paths(s.Changes))
}

// A confined program can write the note of the index. Without the key it hides no change.
func TestAForgedNoteHidesNothing(t *testing.T) {
	mine := func() ([]byte, error) { return []byte("key"), nil }
	for name, c := range map[string]struct {
		key   func() ([]byte, error)
		forge func(note, seal string) string
		hides bool
	}{
		"believed without a key": {nil, func(note, seal string) string { return note + seal }, true},
		"the seal of another":    {mine, func(note, seal string) string { return note + seal }, false},
		"no seal, as before":     {mine, func(note, _ string) string { return note }, false},
		"only a seal":            {mine, func(_, seal string) string { return seal }, false},
		"empty":                  {mine, func(_, _ string) string { return "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n"})
			r.open(worktree.Options{Key: c.key})
			first := r.snapshot(r.head(), worktree.SnapshotOptions{})
			r.write("a", "2\n")
			s := r.snapshot(first.Tree, worktree.SnapshotOptions{})
			require.Equal(t, []string{"M a"}, paths(s.Changes))
			text, err := os.ReadFile(r.path(".git/jp/index.json"))
			require.NoError(t, err)
			note := string(safefile.Unsealed(text))
			require.Equal(t, c.key == nil, note == string(text))
			r.write(".git/jp/index.json", c.forge(strings.Replace(note, s.Tree, first.Tree, 1), string(text)[len(note):]))
			s = r.snapshot(first.Tree, worktree.SnapshotOptions{})
			require.Equal(t, c.hides, len(s.Changes) == 0)
		})
	}
}

// The list of untracked files is sealed, too.
func TestAForgedListHidesNothing(t *testing.T) {
	for name, key := range map[string]func() ([]byte, error){"with a key": func() ([]byte, error) { return []byte("key"), nil }, "without one": nil} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n"})
			since := r.later()
			r.write("d/hidden", "1\n")
			r.later()
			r.open(worktree.Options{Key: key})
			r.others()
			text, err := os.ReadFile(r.path(".git/jp/untracked"))
			require.NoError(t, err)
			list := safefile.Unsealed(text)
			forged := bytes.Replace(list[:len(list)-4], []byte("hidden"), []byte("absent"), 1)
			require.NotEqual(t, list[:len(list)-4], forged)
			forged = binary.BigEndian.AppendUint32(forged, crc32.ChecksumIEEE(forged))
			r.write(".git/jp/untracked", string(append(forged, text[len(list):]...)))
			r.open(worktree.Options{Key: key})
			s, err := r.w.Snapshot(t.Context(), r.head(), worktree.SnapshotOptions{Since: since, Untracked: true})
			require.NoError(t, err)
			require.Equal(t, key != nil, slices.Contains(paths(s.Changes), "A d/hidden"), "%v", paths(s.Changes))
		})
	}
}

// A kept index that is not as jp left it is made anew, also if its length is the same.
func TestAKeptIndexThatWasChangedIsNotUsed(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
	blob := func(tree string) []byte {
		id, err := hex.DecodeString(r.git("rev-parse", tree+":a"))
		require.NoError(t, err)
		return id
	}
	s := r.tool(r.head(), func() {
		r.write("a", "2\n")
		require.NoError(t, os.Chtimes(r.path("a"), time.Unix(1e9, 0), time.Unix(1e9, 0))) // git looks again at files that are newer than the index
	})
	index, err := os.ReadFile(r.path(".git/jp/index"))
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(index, blob(s.Tree)))
	r.write(".git/jp/index", string(bytes.Replace(index, blob(s.Tree), blob(r.head()), 1)))
	r.write("b", "2\n")
	next := r.snapshot(s.Tree, worktree.SnapshotOptions{})
	require.Equal(t, r.addAll(), next.Tree)
	require.Equal(t, []string{"M b"}, paths(next.Changes))
}
