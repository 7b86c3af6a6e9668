package worktree_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// reader reads objects with git.
type reader struct{ dir string }

func (o reader) ReadObject(oid string) (string, []byte, error) {
	kind, err := o.git("cat-file", "-t", oid)
	if err != nil {
		return "", nil, err
	}
	data, err := o.git("cat-file", strings.TrimSpace(string(kind)), oid)
	return strings.TrimSpace(string(kind)), data, err
}

func (o reader) git(args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = o.dir
	return cmd.Output()
}

// store writes the objects of an in-process snapshot, and checks their ids.
func (r *repo) store(objects []worktree.Object) {
	r.t.Helper()
	for _, o := range objects {
		cmd := exec.Command("git", "hash-object", "-w", "-t", o.Kind, "--stdin")
		cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(string(o.Data))
		out, err := cmd.Output()
		require.NoError(r.t, err)
		require.Equal(r.t, o.OID, strings.TrimSpace(string(out)))
	}
}

// both takes the in-process snapshot and the full one, and compares them.
func (r *repo) both(parent string, named []string, edits func()) worktree.Snapshot {
	r.t.Helper()
	mark := r.mark()
	edits()
	quick, ok, err := r.w.SnapshotPaths(r.t.Context(), parent, named, reader{r.dir})
	require.NoError(r.t, err)
	require.True(r.t, ok)
	r.store(quick.Objects)
	full := r.snapshot(parent, worktree.SnapshotOptions{Since: mark, Untracked: true, Named: named})
	require.Equal(r.t, full.Tree, quick.Tree)
	require.Equal(r.t, full.Changes, quick.Changes)
	require.Equal(r.t, full.LeftOut, quick.LeftOut)
	return quick
}

func TestNamedPathsEqualTheFullSnapshot(t *testing.T) {
	r := newRepo(t, map[string]string{
		"a": "1\n2\n3\n", "d/e/f": "x\n", "d/e/g": "x\n", "only/one": "x\n", "x": "no end", ".gitignore": "*.log\n",
		"a.b/c": "order\n", "a0": "order\n",
	})
	for name, c := range map[string]struct {
		named []string
		edits func()
		want  []string
	}{
		"change":      {[]string{"a"}, func() { r.write("a", "1\n3\n4\n5\n") }, []string{"M a"}},
		"unchanged":   {[]string{"a", "absent"}, func() { r.write("a", "1\n2\n3\n") }, nil},
		"deep":        {[]string{"d/e/f", "d/e/g"}, func() { r.write("d/e/f", "y\n"); r.remove("d/e/g") }, []string{"M d/e/f", "D d/e/g"}},
		"new folders": {[]string{"n/e/w"}, func() { r.write("n/e/w", "w") }, []string{"A n/e/w"}},
		"emptied":     {[]string{"only/one"}, func() { r.remove("only") }, []string{"D only/one"}},
		"mode":        {[]string{"x"}, func() { require.NoError(t, os.Chmod(r.path("x"), 0o755)) }, []string{"M x"}},
		"link":        {[]string{"ln"}, func() { require.NoError(t, os.Symlink("a", r.path("ln"))) }, []string{"A ln"}},
		"binary":      {[]string{"bin"}, func() { r.write("bin", "\x00") }, []string{"A bin"}},
		"order":       {[]string{"a.b/c", "a-"}, func() { r.write("a.b/c", "z\n"); r.write("a-", "z") }, []string{"A a-", "M a.b/c"}},
		"left out":    {[]string{"q.log", ".env", "big"}, func() { r.write("q.log", ""); r.write(".env", ""); r.write("big", strings.Repeat("x", 1<<20+1)) }, nil},
		"not utf-8":   {[]string{"\xe9"}, func() { r.write("\xe9", "1") }, []string{"A \xe9"}},
		"empty file":  {[]string{"void"}, func() { r.write("void", "") }, []string{"A void"}},
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			parent := r.snapshot(r.head(), worktree.SnapshotOptions{}).Tree
			got := r.both(parent, c.named, c.edits)
			require.Equal(t, c.want, paths(got.Changes))
			r.git("clean", "-qfdx")
			r.git("checkout", "-q", "--", ".")
		})
	}
}

func TestNamedPathsLeaveOddOnesToGit(t *testing.T) {
	attributes := "*.f filter=x\n*.i ident\n*.w working-tree-encoding=UTF-16LE\n*.t text=auto\n*.b -text\n"
	r := newRepo(t, map[string]string{".gitattributes": attributes, "file": "x\n", "dir/x": "x\n"})
	r.git("submodule", "add", "-q", gitenv.Repo(t), "sub")
	gitenv.Git(t, r.dir, "init", "-q", "inner")
	r.git("commit", "-qm", "sub")
	for name, content := range map[string]string{
		"a.f": "x", "a.i": "x", "a.w": "x\x00", "cr.t": "x\r\n", "lf.t": "x\n", "cr.b": "x\r\n", "inner/i": "x",
	} {
		r.write(name, content)
	}
	for path, want := range map[string]bool{
		"a.f": false, "a.i": false, "a.w": false, "cr.t": false, "lf.t": true, "cr.b": true,
		"sub": false, "sub/README.md": false, "inner/i": false, "dir": false,
	} {
		_, ok, err := r.w.SnapshotPaths(t.Context(), r.head(), []string{path}, reader{r.dir})
		require.NoError(t, err)
		require.Equal(t, want, ok, path)
	}

	r.remove("file")
	r.write("file/x", "x")
	r.remove("dir")
	r.write("dir", "x")
	for _, path := range []string{"file/x", "dir"} {
		_, ok, err := r.w.SnapshotPaths(t.Context(), r.head(), []string{path}, reader{r.dir})
		require.NoError(t, err)
		require.False(t, ok, path)
	}
}

func TestNamedPathsFollowTheSettings(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "x\n"})
	ask := func(path string) bool {
		t.Helper()
		_, ok, err := r.w.SnapshotPaths(t.Context(), r.head(), []string{path}, reader{r.dir})
		require.NoError(t, err)
		return ok
	}
	r.write("a", "x\r\n")
	require.True(t, ask("a"))
	r.git("config", "core.autocrlf", "true")
	require.False(t, ask("a"), "a setting that came later counts")
	r.git("config", "core.autocrlf", "false")
	require.True(t, ask("a"))
	r.write(".gitattributes", "a text\n")
	require.False(t, ask("a"), "an attribute that came later counts")

	r.write("a", "x\n")
	require.NoError(t, os.Chmod(r.path("a"), 0o755))
	r.git("config", "core.fileMode", "false")
	s, ok, err := r.w.SnapshotPaths(t.Context(), r.head(), []string{"a"}, reader{r.dir})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, r.head(), s.Tree)
}

func TestLastFileGone(t *testing.T) {
	r := newRepo(t, nil)
	r.both(r.head(), []string{"README.md"}, func() { r.remove("README.md") })
}
