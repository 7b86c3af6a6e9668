package gitenv_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
)

func TestIsolateHidesTheHost(t *testing.T) {
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	t.Setenv("GIT_DIR", "/nonexistent")
	dir := gitenv.Repo(t)
	require.Equal(t, "Ada Lovelace <ada@example.com>", gitenv.Git(t, dir, "log", "-1", "--format=%an <%ae>"))
	require.Equal(t, "main", gitenv.Git(t, dir, "symbolic-ref", "--short", "HEAD"))
	require.Empty(t, gitenv.Git(t, dir, "status", "--porcelain"))
}

func TestEnvServesAChildProcess(t *testing.T) {
	dir := gitenv.Repo(t)
	home := t.TempDir()
	cmd := exec.Command("git", "config", "--show-origin", "user.email")
	cmd.Dir, cmd.Env = dir, gitenv.Env(home)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), home)
	require.Contains(t, string(out), "ada@example.com")
	for _, pair := range cmd.Env {
		require.False(t, strings.HasPrefix(pair, "GIT_AUTHOR_"), pair)
	}
}
