package gittool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/tool"
	"jp/tool/gittool"
)

func TestCommitOfWhatIsStaged(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "a\n")
	f.write("b.txt", "b\n")
	f.git("add", "a.txt")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x"}), "set staged for what the user has staged")
	result := f.done("git_commit", arguments{"message": "Add a\n\n# kept: a line with a sign\n", "staged": true})
	require.Equal(t, "Add a\n\n# kept: a line with a sign", strings.TrimSpace(f.git("log", "-1", "--format=%B")))
	require.Equal(t, "Ada Lovelace <ada@example.com>", f.git("log", "-1", "--format=%an <%ae>"))
	require.Equal(t, "?? b.txt", f.git("status", "--short"))
	id := f.git("rev-parse", "--short", "HEAD")
	require.Equal(t, id+", 1 file", result.Effect)
	require.Equal(t, "Committed "+id+" Add a\n\na.txt\n", string(result.Content))
	require.Nil(t, result.WrittenFiles)
}

func TestCommitOfPathsLeavesTheRest(t *testing.T) {
	f := newFixture(t)
	f.write("staged.txt", "s\n")
	f.git("add", "staged.txt")
	f.write("README.md", "changed\n")
	f.write("dir/new one.txt", "n\n")
	f.write("dir/*.txt", "a literal name\n")
	result := f.done("git_commit", arguments{"message": "Some", "paths": []string{"README.md", "dir"}})
	require.Contains(t, result.Effect, ", 3 files")
	require.Equal(t, "README.md\ndir/*.txt\ndir/new one.txt", f.git("show", "--format=", "--name-only", "HEAD"))
	require.Equal(t, "A  staged.txt", f.git("status", "--short"))
}

func TestCommitOfADeletion(t *testing.T) {
	f := newFixture(t)
	require.NoError(t, os.Remove(filepath.Join(f.dir, "README.md")))
	f.done("git_commit", arguments{"message": "Remove", "paths": []string{"README.md"}})
	require.Empty(t, f.git("ls-files"))
}

func TestNothingToCommit(t *testing.T) {
	f := newFixture(t)
	head := f.git("rev-parse", "HEAD")
	f.write("untracked", "")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x"}), "nothing to commit")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x", "paths": []string{"README.md"}}), "nothing to commit")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x", "paths": []string{"none"}}), "did not match")
	require.Contains(t, f.refused("git_commit", arguments{"message": " \n"}), "message is empty")
	require.Equal(t, head, f.git("rev-parse", "HEAD"))
}

func TestFailedCommitLeavesTheIndex(t *testing.T) {
	f := newFixture(t)
	f.write("new.txt", "n\n")
	f.refused("git_commit", arguments{"message": "x", "paths": []string{"new.txt", "none"}})
	require.Equal(t, "?? new.txt", f.git("status", "--short"))
}

func TestCommitRunsNoPrograms(t *testing.T) {
	f := newFixture(t)
	marker := filepath.Join(t.TempDir(), "marker")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+marker+"\nexit 1\n"), 0o755))
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit"} {
		require.NoError(t, os.MkdirAll(filepath.Join(f.dir, ".git/hooks"), 0o755))
		require.NoError(t, os.Symlink(program, filepath.Join(f.dir, ".git/hooks", hook)))
	}
	f.git("config", "commit.gpgSign", "true")
	f.git("config", "gpg.program", program)
	f.git("config", "filter.evil.clean", program)
	f.write(".gitattributes", "*.key filter=evil\n")
	f.write("a.key", "a\n")
	f.write("a.txt", "a\n")
	text := string(f.done("git_commit", arguments{"message": "x", "paths": []string{"."}}).Content)
	require.NoFileExists(t, marker)
	require.Contains(t, text, "hooks were not run: pre-commit, commit-msg, post-commit.\n")
	require.Contains(t, text, "not signed")
	require.Equal(t, "a", f.git("show", "HEAD:a.txt"))
	require.Equal(t, ".gitattributes\nREADME.md\na.txt", f.git("ls-tree", "--name-only", "HEAD"))

	f.git("config", "core.hooksPath", "elsewhere")
	f.write("elsewhere/pre-commit", "")
	require.NoError(t, os.Chmod(filepath.Join(f.dir, "elsewhere/pre-commit"), 0o755))
	f.write("a.txt", "b\n")
	text = string(f.done("git_commit", arguments{"message": "y", "paths": []string{"a.txt"}}).Content)
	require.Contains(t, text, "hooks were not run: pre-commit.\n")
}

func TestNestedRepositoryIsNotCommitted(t *testing.T) {
	f := newFixture(t)
	f.write("nested/file", "")
	f.git("init", "-q", "nested")
	f.git("-C", "nested", "add", "file")
	f.git("-C", "nested", "commit", "-q", "-m", "inner")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x", "paths": []string{"nested"}}), "repository of its own")
	require.Empty(t, f.git("diff", "--cached"))
}

func TestOutsideARepository(t *testing.T) {
	f := newFixture(t)
	f.dir = t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(f.dir))
	var err error
	f.tools, err = tool.NewRegistry(gittool.Tools(gitcmd.New(f.dir, gitcmd.Options{}), gittool.Options{})...)
	require.NoError(t, err)
	for name, args := range map[string]arguments{
		"git_status": nil, "git_log": nil, "git_show": {"revision": "HEAD"}, "git_commit": {"message": "x"},
	} {
		require.Contains(t, strings.ToLower(f.refused(name, args)), "not a git repository", name)
	}
}

// The one line of a failure names the lock that another git holds.
func TestCommitBesideAnotherGit(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "a\n")
	f.write(".git/index.lock", "")
	result := f.run("git_commit", arguments{"message": "x", "paths": []string{"a.txt"}})
	require.True(t, result.IsError)
	require.Equal(t, "error: index.lock exists: another git may be running", result.Effect)
	require.Contains(t, string(result.Content), "remove the file manually")
}
