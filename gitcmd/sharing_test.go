package gitcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// jp asks git once, and only if a configuration has the setting's name in it, or may include another file
// that has it.
func TestSharingIsFoundWhereverItStands(t *testing.T) {
	const shared = "[core]\n\tsharedRepository = all\n"
	for name, c := range map[string]struct {
		happen func(t *testing.T, dir string)
		want   gitcmd.Sharing
		asked  int
	}{
		"not set":      {func(*testing.T, string) {}, gitcmd.ShareUmask, 0},
		"in capitals":  {func(t *testing.T, dir string) { addConfig(t, dir, "[CORE] SHAREDREPOSITORY = group\n") }, gitcmd.ShareGroup, 1},
		"no value":     {func(t *testing.T, dir string) { addConfig(t, dir, "[core]\n\tsharedRepository\n") }, gitcmd.ShareGroup, 1},
		"an empty one": {func(t *testing.T, dir string) { addConfig(t, dir, "[core]\n\tsharedRepository =\n") }, gitcmd.ShareUmask, 1},
		"twice":        {func(t *testing.T, dir string) { addConfig(t, dir, shared+"\tsharedRepository = 0640\n") }, -0o640, 1},
		"included": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "more"), shared)
			addConfig(t, dir, "[include]\n\tpath = ../more\n")
		}, gitcmd.ShareEverybody, 1},
		"the user's own": {func(t *testing.T, _ string) { write(t, os.Getenv("GIT_CONFIG_GLOBAL"), shared) }, gitcmd.ShareEverybody, 1},
		"of this working tree": {func(t *testing.T, dir string) {
			gitenv.Git(t, dir, "config", "extensions.worktreeConfig", "true")
			gitenv.Git(t, dir, "config", "--worktree", "core.sharedRepository", "true")
		}, gitcmd.ShareGroup, 1},
		"of a subsection": {func(t *testing.T, dir string) { addConfig(t, dir, "[core \"x\"]\n\tsharedRepository = all\n") }, gitcmd.ShareUmask, 1},
		"no user's file":  {func(t *testing.T, _ string) { t.Setenv("GIT_CONFIG_GLOBAL", "") }, gitcmd.ShareUmask, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			c.happen(t, dir)
			repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			log := filepath.Join(t.TempDir(), "log")
			program := log + ".sh"
			write(t, program, "#!/bin/sh\necho >>"+log+"\nexec git \"$@\"\n")
			require.NoError(t, os.Chmod(program, 0o755))
			g := gitcmd.At(repo, gitcmd.Options{Program: program})
			for range 2 {
				got, err := g.Sharing()
				require.NoError(t, err)
				require.Equal(t, c.want, got)
			}
			asked, _ := os.ReadFile(log)
			require.Equal(t, c.asked, strings.Count(string(asked), "\n"))
		})
	}
}

func addConfig(t *testing.T, dir, text string) {
	t.Helper()
	config := filepath.Join(dir, ".git", "config")
	old, err := os.ReadFile(config)
	require.NoError(t, err)
	write(t, config, string(old)+text)
}

func TestWhatIsMadeIsSharedAsGitDoes(t *testing.T) {
	dir := gitenv.Repo(t)
	gitenv.Git(t, dir, "config", "core.sharedRepository", "0640")
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	path := filepath.Join(dir, "made")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, gitcmd.At(repo, gitcmd.Options{}).Share(f))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())

	gitenv.Git(t, dir, "config", "core.sharedRepository", "0440")
	require.ErrorIs(t, gitcmd.At(repo, gitcmd.Options{}).Share(f), gitcmd.ErrSharing)
}
