package gitcmd_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// Each change to a rule shows in the next answer, also while a git runs that has read it.
func TestAnswersFollowTheRules(t *testing.T) {
	dir := gitenv.Repo(t)
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	located, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	c := gitcmd.NewRules(gitcmd.At(located, gitcmd.Options{}))
	check := func(path string, ignored bool, text string) {
		t.Helper()
		for range 2 {
			got, err := c.Ignored(t.Context(), []string{path, "always"})
			require.NoError(t, err)
			require.Equal(t, map[string]bool{path: ignored, "always": false}, got)
			values, err := c.Attributes(t.Context(), []string{path}, "text", "diff")
			require.NoError(t, err)
			require.Equal(t, map[string]map[string]string{path: {"text": text, "diff": "unspecified"}}, values)
		}
	}
	check("d/a\n.log", false, "unspecified")
	write(".gitignore", "*.log\n")
	write(".gitattributes", "*.log text\n")
	check("d/a\n.log", true, "set")
	write("d/.gitignore", "!a*\n")
	write("d/.gitattributes", "*.log -text\n")
	check("d/a\n.log", false, "unset")
	require.NoError(t, os.Remove(filepath.Join(dir, "d", ".gitignore")))
	require.NoError(t, os.Remove(filepath.Join(dir, "d", ".gitattributes")))
	check("d/a\n.log", true, "set")
	require.NoError(t, os.Remove(filepath.Join(dir, ".gitignore")))
	check("d/a\n.log", false, "set")
	write(".git/info/exclude", "d/\n")
	write(".git/info/attributes", "*.log text=auto\n")
	check("d/a\n.log", true, "auto")
	write("rules", "other\n")
	gitenv.Git(t, dir, "config", "core.excludesFile", filepath.Join(dir, "rules"))
	check("other", true, "unspecified")
	write("rules", "!other\n")
	check("other", false, "unspecified")
	write("!odd", "x")
	check("!odd", false, "unspecified")
	write("rules", "\\!odd\n")
	check("!odd", true, "unspecified")
}

// A git that answers is reused, and one that cannot answer gives the reason.
func TestOneGitAnswers(t *testing.T) {
	dir := gitenv.Repo(t)
	located, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	c := gitcmd.NewRules(gitcmd.At(located, gitcmd.Options{}))
	_, err = c.Ignored(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.NoError(t, os.Symlink("elsewhere", filepath.Join(dir, "link")))
	_, err = c.Ignored(t.Context(), []string{"link/in"})
	require.ErrorContains(t, err, "beyond a symbolic link")
	_, err = c.Ignored(t.Context(), []string{"a"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Ignored(ctx, []string{"a"})
	require.ErrorIs(t, err, context.Canceled)
	for range 2 {
		_, err = c.Ignored(t.Context(), []string{"a"})
		require.NoError(t, err)
		c.Close()
	}
}
