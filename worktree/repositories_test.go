package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/internal/testing/gitenv"
	"jp/worktree"
)

func TestUnmergedPathsAreWhatTheFilesAre(t *testing.T) {
	r := newRepo(t, map[string]string{"uu": "base\n", "du": "base\n", "ud": "base\n"})
	r.git("switch", "-q", "-c", "theirs")
	r.write("uu", "theirs\n")
	r.write("aa", "theirs\n")
	r.write("du", "theirs\n")
	r.remove("ud")
	r.git("add", "-A")
	r.git("commit", "-qm", "theirs")
	r.git("switch", "-q", "main")
	r.write("uu", "ours\n")
	r.write("aa", "ours\n")
	r.remove("du")
	r.write("ud", "ours\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "ours")
	cmd := exec.Command("git", "merge", "-q", "theirs")
	cmd.Dir = r.dir
	require.Error(t, cmd.Run())

	s := r.snapshot(r.head(), worktree.SnapshotOptions{})
	require.Equal(t, r.addAll(), s.Tree)
	require.Contains(t, r.files(s.Tree)["uu"], "<<<<<<<")
	require.NotEmpty(t, r.git("ls-files", "-u"), "the user's index keeps its conflicts")
	state, err := r.w.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, "merge", state.InProgress)
}

func TestSparseCheckoutTakesAWriteOutsideTheCone(t *testing.T) {
	for _, sparseIndex := range []string{"false", "true"} {
		t.Run("index.sparse="+sparseIndex, func(t *testing.T) {
			r := newRepo(t, map[string]string{"in/a": "1\n", "out/b": "1\n", "out/c": "1\n"})
			r.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
			r.git("sparse-checkout", "set", "--cone", map[string]string{"true": "--sparse-index", "false": "--no-sparse-index"}[sparseIndex], "in")
			require.NoFileExists(t, r.path("out/b"))
			s := r.tool(r.head(), func() { r.write("out/b", "tool\n"); r.write("in/a", "tool\n") }, "out/b")
			require.Equal(t, []string{"M in/a", "M out/b"}, paths(s.Changes))
			require.Equal(t, "1\n", r.files(s.Tree)["out/c"])
		})
	}
}

func TestSplitIndex(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
	r.git("update-index", "--split-index")
	r.write("c", "1\n")
	r.git("add", "c")
	s := r.tool(r.head(), func() { r.write("a", "2\n"); r.write("n", "n\n") })
	require.Equal(t, []string{"M a", "A c", "A n"}, paths(s.Changes))
	r.git("fsck", "--strict")
}

func TestIntentToAdd(t *testing.T) {
	r := newRepo(t, nil)
	r.write("planned", "text\n")
	r.git("add", "--intent-to-add", "planned")
	s := r.snapshot(r.head(), worktree.SnapshotOptions{})
	require.Equal(t, "text\n", r.files(s.Tree)["planned"])
}

func TestKindsChange(t *testing.T) {
	r := newRepo(t, map[string]string{"d/x": "1\n", "d/y": "1\n", "f": "1\n", "g": "1\n", "l/x": "1\n"})
	s := r.tool(r.head(), func() {
		r.remove("d")
		r.write("d", "now a file\n")
		r.remove("f")
		r.write("f/x", "now a folder\n")
		r.remove("g")
		require.NoError(t, os.Symlink("d", r.path("g")))
		r.remove("l")
		require.NoError(t, os.Symlink("f", r.path("l")))
	})
	require.Equal(t, r.addAll(), s.Tree)
	files := r.files(s.Tree)
	require.Equal(t, "-> d", files["g"])
	require.Equal(t, "-> f", files["l"])
	require.NotContains(t, files, "l/x")

	back := r.tool(s.Tree, func() { r.remove("f"); r.write("f", "again\n"); r.remove("d"); r.write("d/x", "again\n") })
	require.Equal(t, r.addAll(), back.Tree)
}

func TestLineEndsAreNormalisedAsGitDoes(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.txt text=auto\n", "a.txt": "1\n"})
	s := r.tool(r.head(), func() { r.write("a.txt", "1\r\n2\r\n"); r.write("b.txt", "x\r\n") })
	require.Equal(t, "1\n2\n", r.files(s.Tree)["a.txt"])
	require.Equal(t, r.addAll(), s.Tree)
	r.git("config", "core.autocrlf", "input")
	r.git("config", "core.safecrlf", "true")
	s = r.tool(s.Tree, func() { r.write("c.c", "1\r\n2\n") })
	require.Equal(t, "1\n2\n", r.files(s.Tree)["c.c"], "safecrlf does not stop it")
}

func TestFileModeSettingIsHonoured(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	require.NoError(t, os.Chmod(r.path("a"), 0o755))
	require.Equal(t, "x 1\n", r.files(r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree)["a"])
	r.git("config", "core.fileMode", "false")
	require.Equal(t, r.head(), r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree)
}

func TestHiddenPathsThatAToolNames(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(flag, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
			r.git("update-index", flag, "a", "b")
			r.write("b", "hidden edit\n")
			s := r.tool(r.head(), func() { r.write("a", "tool\n") }, "a")
			require.Equal(t, []string{"M a"}, paths(s.Changes))
			require.Equal(t, "1\n", r.files(s.Tree)["b"])
		})
	}
}

// A tool's content there stays as it was recorded when the index changes.
func TestHiddenPathsStayAsRecorded(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(flag, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n", "c": "1\n"})
			r.git("update-index", flag, "a")
			s := r.tool(r.head(), func() { r.write("a", "tool\n"); r.write("c", "tool\n") }, "a", "c")
			require.Equal(t, []string{"M a", "M c"}, paths(s.Changes))
			r.write("b", "2\n")
			r.git("add", "b")
			r.git("update-index", flag, "c")
			r.write("c", "hidden edit\n")
			s = r.snapshot(s.Tree, worktree.SnapshotOptions{})
			require.Equal(t, []string{"M b"}, paths(s.Changes))
			require.Equal(t, map[string]string{"README.md": "# A repository\n", "a": "tool\n", "b": "2\n", "c": "tool\n"}, r.files(s.Tree))
		})
	}
}

// In a sparse checkout it may be missing, elsewhere it is gone.
func TestSkippedPathThatIsNotThere(t *testing.T) {
	for sparse, want := range map[string][]string{"true": {"M b"}, "false": {"D a", "M b"}} {
		t.Run(sparse, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
			r.git("config", "core.sparseCheckout", sparse)
			r.git("update-index", "--skip-worktree", "a")
			r.remove("a")
			named, ok, err := r.w.SnapshotPaths(t.Context(), r.head(), []string{"a"}, reader{r.dir})
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, want[:len(want)-1], append([]string{}, paths(named.Changes)...))
			s := r.tool(r.head(), func() { r.write("b", "2\n") }, "a", "b")
			require.Equal(t, want, paths(s.Changes))
		})
	}
}

// A path that a tool removed by name stays removed, although the index has another version of it, or the
// same.
func TestSkippedPathThatAToolTookAway(t *testing.T) {
	for _, sparse := range []string{"true", "false"} {
		for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
			t.Run(sparse+flag, func(t *testing.T) {
				r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
				r.git("config", "core.sparseCheckout", sparse)
				r.git("update-index", flag, "a")
				tree := r.clean()
				r.write("a", "mine\n")
				named, ok, err := r.w.SnapshotPaths(t.Context(), tree, []string{"a"}, reader{r.dir})
				require.NoError(t, err)
				require.True(t, ok)
				r.store(named.Objects)
				r.remove("a")
				named, ok, err = r.w.SnapshotPaths(t.Context(), named.Tree, []string{"a"}, reader{r.dir})
				require.NoError(t, err)
				require.True(t, ok)
				require.Equal(t, []string{"D a"}, paths(named.Changes))
				r.store(named.Objects)
				require.Empty(t, r.look(named.Tree).Changes)
				s := r.after(named.Tree, nil, func() { r.write("b", "2\n") })
				require.Equal(t, []string{"M b"}, paths(s.Changes))
				r.write("b", "3\n")
				require.Equal(t, []string{"M b"}, paths(r.look(s.Tree).Changes))
			})
		}
	}
}

func TestNestedRepositoryIsNotEntered(t *testing.T) {
	r := newRepo(t, nil)
	s := r.tool(r.head(), func() {
		gitenv.Git(t, r.dir, "init", "-q", "inner")
		r.write("inner/i", "x\n")
		r.write("beside", "x\n")
	})
	require.Equal(t, []string{"A beside"}, paths(s.Changes))
}

func TestPipesAndSocketsStayOut(t *testing.T) {
	r := newRepo(t, map[string]string{"was": "file\n"})
	s := r.tool(r.head(), func() {
		require.NoError(t, unix.Mkfifo(r.path("pipe"), 0o600))
		r.remove("was")
		require.NoError(t, unix.Mkfifo(r.path("was"), 0o600))
		r.write("b", "x\n")
	})
	require.Equal(t, []string{"A b"}, paths(s.Changes))
	require.Contains(t, leftPaths(s.LeftOut), "was")
	require.Equal(t, "file\n", r.files(s.Tree)["was"], "the parent's entry stays")
}

func TestUnreadableFileFailsAlone(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.u16 working-tree-encoding=UTF-16\n", "a": "1\n"})
	s := r.tool(r.head(), func() {
		for _, name := range []string{"1", "2", "3", "4", "5"} {
			r.write(name, name)
		}
		r.write("bad.u16", "\xd8\x00\xd8") // invalid UTF-16
		r.write("a", "2\n")
	})
	require.Equal(t, []string{"A 1", "A 2", "A 3", "A 4", "A 5", "M a"}, paths(s.Changes))
	require.Equal(t, []string{"bad.u16"}, leftPaths(s.LeftOut))
}

func TestFullObjectStoreIsAnError(t *testing.T) {
	if os.Getuid() == 0 {
		// The modes bind everybody but root.
		t.Skip("root may write everywhere")
	}
	r := newRepo(t, map[string]string{"a": "1\n"})
	r.write("a", "2\n")
	require.NoError(t, os.Chmod(r.path(".git/objects"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(r.path(".git/objects"), 0o755) })
	_, err := r.w.Snapshot(t.Context(), r.head(), worktree.SnapshotOptions{})
	require.Error(t, err)
}

func TestPathsAreBytes(t *testing.T) {
	r := newRepo(t, nil)
	odd := []string{"latin\xe9", "new\nline", "tab\t", "-dash", ":(top)x", "*", `quo"te\`, " "}
	s := r.tool(r.head(), func() {
		for _, name := range odd {
			r.write(name, name)
		}
	}, odd...)
	require.Len(t, s.Changes, len(odd))
	for _, name := range odd {
		require.Equal(t, name, r.files(s.Tree)[name])
	}
	require.Equal(t, r.addAll(), s.Tree)
}

// A sparse partial clone lacks the rules by which git would list untracked files, and jp fetches nothing:
// tracked files are seen all the same.
func TestUntrackedFilesThatGitCannotList(t *testing.T) {
	source := newRepo(t, map[string]string{"a/1": "1\n", "b/1": "1\n", "b/.gitignore": "x\n", "c": "1\n"})
	source.git("config", "uploadpack.allowFilter", "true")
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "clone")}
	gitenv.Git(t, source.dir, "clone", "-q", "--filter=blob:none", "--sparse", "file://"+source.dir, r.dir)
	r.git("sparse-checkout", "set", "a")
	r.open(worktree.Options{})
	tree, mark := r.head(), r.mark()
	others, err := r.w.FindUntracked(t.Context(), nil)
	require.NoError(t, err)
	r.write("b/new", "1\n")
	r.write("a/1", "2\n")
	r.remove("c")
	s, err := r.w.Snapshot(t.Context(), tree, worktree.SnapshotOptions{Since: mark, Untracked: true, ListUntracked: others})
	require.NoError(t, err)
	require.Equal(t, []string{"M a/1", "D c"}, paths(s.Changes))
	require.Equal(t, []string{"."}, leftPaths(s.LeftOut))
	require.Contains(t, s.LeftOut[0].Why, "could not be listed: could not fetch")
	require.Nil(t, s.Untracked)
	others, err = r.w.FindUntracked(t.Context(), others)
	require.NoError(t, err)
	require.Nil(t, others)
}
