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

func (r *repo) after(parent string, named []string, edits func()) worktree.Snapshot {
	r.t.Helper()
	mark := r.mark()
	edits()
	s, err := r.w.Snapshot(r.t.Context(), parent, worktree.SnapshotOptions{Since: mark, Untracked: true, Named: named, Objects: reader{r.dir}})
	require.NoError(r.t, err)
	r.store(s.Objects)
	return s
}

// look is a snapshot of which git writes the objects.
func (r *repo) look(parent string) worktree.Snapshot {
	r.t.Helper()
	s, err := r.w.Snapshot(r.t.Context(), parent, worktree.SnapshotOptions{})
	require.NoError(r.t, err)
	return s
}

// inspected lets a file that says so be a secret.
func (r *repo) inspected() {
	r.t.Helper()
	r.open(worktree.Options{Inspect: func(_ string, _, is []byte) string {
		if string(is) == "secret\n" {
			return "a secret"
		}
		return ""
	}})
}

// A left-out path may still differ between the index and the tree.
func TestALeftOutPathGoesBackToTheIndex(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n"})
	tree := r.clean()
	r.inspected()
	one := r.after(tree, nil, func() { r.write("x", "2\n") })
	two := r.after(one.Tree, nil, func() { r.write("x", "secret\n"); r.write("y", "2\n") })
	require.Equal(t, []string{"M y"}, paths(two.Changes))
	three := r.after(two.Tree, nil, func() { r.write("x", "1\n") })
	require.Equal(t, []string{"M x"}, paths(three.Changes))
}

// An index of jp's own knows what a tool wrote to a hidden file.
func TestHiddenPathsBesideOutsideChanges(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(flag, func(t *testing.T) {
			r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n", "z": "1\n"})
			r.git("update-index", flag, "x")
			tree := r.clean()
			one := r.after(tree, []string{"x"}, func() { r.write("x", "2\n") })
			require.Equal(t, []string{"M x"}, paths(one.Changes))
			two := r.after(one.Tree, nil, func() { r.write("y", "2\n") })
			require.Equal(t, []string{"M y"}, paths(two.Changes))
			r.write("z", "2\n")
			three := r.look(two.Tree)
			require.Equal(t, []string{"M z"}, paths(three.Changes))
		})
	}
}

func TestHiddenPathsBesideManyChanges(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n", "z": "1\n"})
	r.git("update-index", "--assume-unchanged", "x")
	tree := r.clean()
	one := r.after(tree, []string{"x"}, func() { r.write("x", "2\n") })
	two := r.after(one.Tree, nil, func() { r.write("y", "2\n") })
	three := r.after(two.Tree, nil, func() {
		for i := range 70 {
			r.write(fmt.Sprintf("many/%d", i), "x")
		}
	})
	require.Equal(t, "2\n", r.files(three.Tree)["x"])
}

func TestAHiddenPathThatIsGoneStaysGone(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n", "z": "1\n"})
	r.git("update-index", "--assume-unchanged", "x")
	tree := r.clean()
	one := r.after(tree, []string{"x"}, func() { r.remove("x") })
	require.Equal(t, []string{"D x"}, paths(one.Changes))
	two := r.after(one.Tree, nil, func() { r.write("y", "2\n") })
	require.Equal(t, []string{"M y"}, paths(two.Changes))
	r.write("z", "2\n")
	three := r.look(two.Tree)
	require.Equal(t, []string{"M z"}, paths(three.Changes))
}

func TestALinkThatIsAFileStaysALink(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n"})
	require.NoError(t, os.Symlink("x", r.path("l")))
	r.git("add", "l")
	r.git("commit", "-qm", "l")
	r.git("config", "core.symlinks", "false")
	r.remove("l")
	r.git("checkout", "l")
	info, err := os.Lstat(r.path("l"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
	tree := r.clean()
	one := r.after(tree, nil, func() { require.NoError(t, os.WriteFile(r.path("l"), []byte("y"), 0o644)) })
	require.Equal(t, r.addAll(), one.Tree, "%v", r.git("ls-tree", one.Tree))
}

func TestNamesThatGitRefusesStayOut(t *testing.T) {
	for _, name := range []string{
		".GIT/x", "git~1", "d/.Git", ".git ./x", "a/.git::$INDEX_ALLOCATION/x", ".g\u200cit/x", "d/.gi\u202at", ".git\xff", `a\.git`, ".gitmodules/x", ".gitattributes/x", "gitmod~1/x",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"x": "1\n"})
			tree := r.clean()
			one := r.after(tree, nil, func() { r.write("x", "2\n"); r.write(name, "1\n") })
			r.git("fsck", "--strict", "--no-dangling")
			require.Equal(t, []string{"M x"}, paths(one.Changes))
		})
	}
}

// A server that checks objects refuses a tree with one of these.
func TestContentThatGitRefusesStaysOut(t *testing.T) {
	evil, long := "[submodule \"a\"]\n\tpath = a\n\turl = -evil\n", "*"+strings.Repeat(" a", 1100)+"\n"
	for _, file := range [][2]string{
		{".gitmodules", evil}, {"d/.gitmodules", evil}, {".gitm\u200codules", evil}, {"gitmod~1", evil}, {".gitattributes", long}, {"d/.gitattributes", long}, {"gitatt~2", long},
	} {
		for _, way := range []string{"untracked", "staged", "forced"} {
			t.Run(file[0]+" "+way, func(t *testing.T) {
				r := newRepo(t, map[string]string{"x": "1\n"})
				tree := r.clean()
				one := r.after(tree, nil, func() {
					r.write("x", "2\n")
					r.write(file[0], file[1])
					switch way {
					case "staged":
						r.git("add", "-A")
					case "forced":
						oid := strings.TrimSpace(r.git("hash-object", "-w", file[0]))
						r.git("update-index", "--add", "--cacheinfo", "100644,"+oid+","+file[0])
					}
				})
				require.Equal(t, []string{"M x"}, paths(one.Changes))
				require.Len(t, one.LeftOut, 1)
				require.Equal(t, file[0], one.LeftOut[0].Path)
				require.Contains(t, one.LeftOut[0].Why, "git fsck refuses it")
				require.NotContains(t, r.git("ls-tree", "-r", "-z", one.Tree), file[0])
				two := r.after(one.Tree, nil, func() { r.write("x", "3\n") })
				require.Equal(t, []string{"M x"}, paths(two.Changes))
			})
		}
	}
	r := newRepo(t, map[string]string{".gitattributes": "* text\n"})
	tree := r.clean()
	one := r.after(tree, nil, func() { r.write(".gitattributes", long) })
	require.Equal(t, tree, one.Tree)
	two := r.after(tree, nil, func() { r.write(".gitattributes", "a text\n") })
	require.Equal(t, []string{"M .gitattributes"}, paths(two.Changes))
}

func TestKeysAreKnownByTheirNames(t *testing.T) {
	for name, key := range map[string]bool{
		"id_rsa": true, "ID_DSA": true, "d/id_ecdsa": true, "id_ed25519": true, "id_ecdsa_sk": true, "id_ed25519_sk": true,
		"id_card.go": false, "id_map.go": false, "id_rsa.pub": false, "id_": false, "id_rsa.go": false, ".env": true, ".env.example": true, "a.pem": true,
	} {
		require.Equal(t, key, worktree.WhyNotName(name, false) != "", name)
	}
}

func TestALinkInPlaceOfGitsFileStaysOut(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n"})
	tree := r.clean()
	one := r.after(tree, nil, func() {
		r.write("x", "2\n")
		require.NoError(t, os.Symlink("x", r.path(".gitmodules")))
	})
	require.Equal(t, []string{"M x"}, paths(one.Changes))
}

func TestALinkTakesAFilesPlace(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n"})
	tree := r.clean()
	one := r.after(tree, nil, func() {
		r.remove("x")
		require.NoError(t, os.Symlink("y", r.path("x")))
		require.NoError(t, os.Chmod(r.path("y"), 0o755))
	})
	d, err := r.w.Diff(t.Context(), tree, one.Tree)
	require.NoError(t, err)
	require.Equal(t, d, one.Changes)
}

// A flagged file that a tool wrote by name, and that is gone later.
func TestAHiddenPathIsFollowed(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(flag, func(t *testing.T) {
			r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n", "z": "1\n"})
			r.git("update-index", flag, "x")
			tree := r.clean()
			r.write("x", "2\n")
			named, ok, err := r.w.SnapshotPaths(t.Context(), tree, []string{"x"}, reader{r.dir})
			require.NoError(t, err)
			require.True(t, ok)
			r.store(named.Objects)
			one := r.after(named.Tree, nil, func() { r.remove("x"); r.write("y", "2\n") })
			r.write("z", "2\n")
			two := r.look(one.Tree)
			require.Equal(t, []string{"M z"}, paths(two.Changes))
		})
	}
}

// A path that differs from the index is a pipe now.
func TestAPathThatBecameAPipeIsRemoved(t *testing.T) {
	r := newRepo(t, map[string]string{"y": "1\n"})
	tree := r.clean()
	one := r.after(tree, nil, func() { r.write("x", "2\n") })
	two := r.after(one.Tree, nil, func() {
		r.remove("x")
		require.NoError(t, unix.Mkfifo(r.path("x"), 0o644))
		r.write("y", "2\n")
	})
	require.Equal(t, []string{"M y"}, paths(two.Changes))
	require.Equal(t, []string{"x"}, leftPaths(two.LeftOut))
	three := r.after(two.Tree, nil, func() { r.remove("x") })
	require.Equal(t, []string{"D x"}, paths(three.Changes))
}

// The same with a file that was new: neither its next content is recorded nor its end.
func TestALeftOutPathIsRemoved(t *testing.T) {
	r := newRepo(t, map[string]string{"y": "1\n"})
	tree := r.clean()
	r.inspected()
	one := r.after(tree, nil, func() { r.write("x", "2\n") })
	two := r.after(one.Tree, nil, func() { r.write("x", "secret\n"); r.write("y", "2\n") })
	require.Equal(t, []string{"M y"}, paths(two.Changes))
	mark := r.mark()
	r.remove("x")
	s, err := r.w.Snapshot(t.Context(), two.Tree, worktree.SnapshotOptions{Since: mark, Untracked: true, Objects: reader{r.dir}})
	require.NoError(t, err)
	require.Equal(t, []string{"D x"}, paths(s.Changes))
}

// A tool changes a file that is hidden from git, without naming it: the snapshot reports it, and does not
// record it.
func TestHiddenPathsThatAToolDidNotName(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(flag, func(t *testing.T) {
			r := newRepo(t, map[string]string{"x": "1\n", "d/y": "1\n", "z": "1\n"})
			r.git("update-index", flag, "x", "d/y", "z")
			r.write("x", "mine\n")
			tree := r.head()
			after := func(edits func(), named ...string) worktree.Snapshot {
				others, err := r.w.FindUntracked(t.Context(), nil)
				require.NoError(t, err)
				mark := r.mark()
				edits()
				return r.snapshot(tree, worktree.SnapshotOptions{Since: mark, Untracked: true, ListUntracked: others, Named: named})
			}
			require.Empty(t, after(func() { r.write("new", "1\n") }).LeftOut)
			s := after(func() { r.write("x", "tool\n"); r.remove("d") })
			require.Equal(t, []string{"d/y", "x"}, leftPaths(s.LeftOut))
			require.Equal(t, worktree.WhyGone, s.LeftOut[0].Why)
			require.Empty(t, after(func() { r.write("new", "2\n") }).LeftOut, "only once")
			s = after(func() { r.write("x", "named\n") }, "x")
			require.Empty(t, s.LeftOut)
			require.Contains(t, paths(s.Changes), "M x")
		})
	}
}

// A wrong configuration for the disk does not hide a change of a name's case.
func TestNamesThatDifferInCase(t *testing.T) {
	for _, says := range []string{"true", "false", ""} {
		t.Run("ignoreCase="+says, func(t *testing.T) {
			r := newRepo(t, map[string]string{"main.go": "m\n", "d/a": "a\n"})
			if says != "" {
				r.git("config", "core.ignoreCase", says)
			}
			r.open(worktree.Options{})
			s := r.tool(r.head(), func() { r.shell("mv main.go Main.go; mv d/a d/A; echo b >d/a") })
			require.Equal(t, map[string]string{"README.md": "# A repository\n", "Main.go": "m\n", "d/A": "a\n", "d/a": "b\n"}, r.files(s.Tree))
		})
	}
}
