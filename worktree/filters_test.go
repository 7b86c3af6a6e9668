package worktree_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/gitenv"
	"jp/worktree"
)

func TestRequiredFilterOfTheRepositoryKeepsTheParentsEntry(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.bin filter=lfs\n", "a.bin": "pointer\n", "b": "1\n"})
	marker := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{"clean": "touch " + marker, "smudge": "cat", "required": "true"} {
		r.git("config", "filter.lfs."+key, value)
	}
	s := r.tool(r.head(), func() {
		r.write("a.bin", "content\n")
		r.write("new.bin", "content\n")
		r.write("b", "2\n")
	})
	require.Equal(t, []string{"M b"}, paths(s.Changes))
	require.Equal(t, []string{"a.bin", "new.bin"}, leftPaths(s.LeftOut))
	require.Contains(t, s.LeftOut[0].Why, "lfs")
	require.Equal(t, "pointer\n", r.files(s.Tree)["a.bin"])
	require.NoFileExists(t, marker)
}

// The user staged a version that the parent's tree lacks: the parent's entry counts.
func TestFilteredPathWithAStagedVersion(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.bin filter=lfs\n", "a.bin": "pointer\n"})
	parent := r.head()
	r.write("a.bin", "staged\n")
	r.git("add", "a.bin")
	r.git("config", "filter.lfs.clean", "false")
	r.write("a.bin", "and changed\n")
	s := r.snapshot(parent, worktree.SnapshotOptions{})
	require.Equal(t, parent, s.Tree)
	require.Equal(t, []string{"a.bin"}, leftPaths(s.LeftOut))
}

func TestUsersOwnFilterIsHonoured(t *testing.T) {
	r := newRepo(t, map[string]string{"a.txt": "1\n"})
	r.git("config", "--global", "filter.up.clean", "tr a-z A-Z")
	s := r.tool(r.head(), func() {
		r.write(".gitattributes", "*.txt filter=up\n")
		r.write("a.txt", "loud\n")
	})
	require.Equal(t, "LOUD\n", r.files(s.Tree)["a.txt"])
	require.Empty(t, s.LeftOut)
}

func TestSubmodules(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	r.git("submodule", "add", "-q", gitenv.Repo(t), "sub")
	r.git("commit", "-qm", "sub")
	sub := filepath.Join(r.dir, "sub")
	marker := filepath.Join(t.TempDir(), "ran")
	gitenv.Git(t, sub, "config", "filter.evil.clean", "touch "+marker+"; cat")
	info := gitenv.Git(t, sub, "rev-parse", "--path-format=absolute", "--git-path", "info/attributes")
	rel, err := filepath.Rel(r.dir, info)
	require.NoError(t, err)
	r.write(rel, "* filter=evil\n")
	r.git("config", "diff.ignoreSubmodules", "none")
	commit := gitenv.Git(t, sub, "rev-parse", "HEAD")

	s := r.tool(r.head(), func() {
		r.write("sub/README.md", "# a repository\n")
		r.write("sub/untracked", "x\n")
		r.write("a", "2\n")
	}, "a")
	require.Equal(t, []string{"M a"}, paths(s.Changes), "what is dirty inside is not recorded")
	require.Equal(t, "commit "+commit, r.files(s.Tree)["sub"])
	_, err = r.w.Status(t.Context())
	require.NoError(t, err)
	require.NoFileExists(t, marker)

	r.git("diff-files")
	require.FileExists(t, marker, "plain git runs the filter")

	gitenv.Git(t, sub, "config", "--remove-section", "filter.evil")
	gitenv.Git(t, sub, "commit", "-qam", "next")
	next := r.snapshot(s.Tree, worktree.SnapshotOptions{})
	require.Equal(t, []string{"M sub"}, paths(next.Changes), "a new commit inside is")
}
