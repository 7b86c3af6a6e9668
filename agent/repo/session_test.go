package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/safefile"
)

func closedRepo(dir, topLevel string) *Repo {
	_ = os.Mkdir(filepath.Join(dir, ".git"), 0o700) // once for all of a folder
	return keyed(dir, gitcmd.Repository{GitDir: filepath.Join(dir, ".git"), CommonDir: filepath.Join(dir, ".git"), TopLevel: topLevel})
}

// linkedRepo is a linked working tree of a repository that stays closed.
func linkedRepo(t *testing.T, dir, name string) *Repo {
	t.Helper()
	git := filepath.Join(dir, ".git", "worktrees", name)
	require.NoError(t, os.MkdirAll(git, 0o700))
	return keyed(dir, gitcmd.Repository{GitDir: git, CommonDir: filepath.Join(dir, ".git"), TopLevel: filepath.Join(dir, name)})
}

// keyed is a repository of a user whose state is in a folder.
func keyed(dir string, repository gitcmd.Repository) *Repo {
	r := repoOf(repository)
	r.Paths.StateDir = filepath.Join(dir, ".state")
	return r
}

func idOf(n int) conversation.ID { return conversation.ID(fmt.Sprintf("jp-c1795255%04d-k3f9", n)) }

func TestSessionRemembers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := closedRepo(dir, dir).Session(&Host{Environ: []string{"JP_SESSION=mine"}})
	require.Empty(t, s.conversations())
	for i, id := range []conversation.ID{idOf(1), idOf(2), idOf(1), idOf(3)} {
		require.NoError(t, s.Use(id, noon.Add(time.Duration(i)*time.Minute)))
	}
	require.Equal(t, []conversation.ID{idOf(3), idOf(1), idOf(2)}, s.conversations())
	for n := range 2 * historyLength {
		require.NoError(t, s.Use(idOf(n), noon))
	}
	require.Len(t, s.conversations(), historyLength)
	require.Equal(t, idOf(2*historyLength-1), s.conversations()[0])
}

func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := []string{"JP_SESSION=mine"}
	first := closedRepo(dir, dir).Session(&Host{Environ: mine})
	require.NoError(t, first.Use(idOf(1), noon))
	for name, s := range map[string]session{
		"another name":     closedRepo(dir, dir).Session(&Host{Environ: []string{"JP_SESSION=yours"}}),
		"another pane":     closedRepo(dir, dir).Session(&Host{Environ: []string{"TMUX_PANE=mine"}}),
		"another worktree": linkedRepo(t, dir, "other").Session(&Host{Environ: mine}),
		"no worktree":      closedRepo(dir, "").Session(&Host{Environ: mine}),
		"no name":          closedRepo(dir, dir).Session(&Host{}),
	} {
		require.Empty(t, s.conversations(), name)
	}
	again := closedRepo(dir, dir).Session(&Host{Environ: append([]string{"TMUX_PANE=%7"}, mine...)})
	require.Equal(t, []conversation.ID{idOf(1)}, again.conversations(), "the user's own name comes first")
}

func TestSessionsOfMovedTrees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := &Host{Environ: []string{"JP_SESSION=mine"}}
	linked := linkedRepo(t, dir, "side")
	require.NoError(t, linked.Session(mine).Use(idOf(1), noon))
	linked.At.TopLevel = filepath.Join(dir, "elsewhere")
	require.Equal(t, []conversation.ID{idOf(1)}, linked.Session(mine).conversations(), "the working tree was moved")
	require.NoError(t, os.RemoveAll(linked.At.GitDir))
	require.Empty(t, linkedRepo(t, dir, "side").Session(mine).conversations(), "another one has its name")

	state := t.TempDir()
	at := func(dir string) *Repo {
		r := closedRepo(dir, dir)
		r.Paths.StateDir = state
		return r
	}
	main := at(dir)
	_, err := main.Standings().WorkspaceID()
	require.NoError(t, err)
	require.NoError(t, main.Session(mine).Use(idOf(2), noon))
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	require.Empty(t, at(copied).Session(mine).conversations(), "a copy")
	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(dir, moved))
	require.Equal(t, []conversation.ID{idOf(2)}, at(moved).Session(mine).conversations(), "the repository was moved")
}

// jp names a session file that another program wrote, and ignores it.
func TestForgedSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said []string
	repo := closedRepo(dir, dir)
	repo.Env = &Host{Notify: func(line string) { said = append(said, line) }}
	s := repo.Session(&Host{Environ: []string{"JP_SESSION=mine"}})
	require.NoError(t, s.Use(idOf(1), noon))
	file := filepath.Join(dir, ".git", "jp", SessionsFolder, s.file)
	ours, err := os.ReadFile(file)
	require.NoError(t, err)
	other := strings.Replace(string(ours), string(idOf(1)), string(idOf(2)), 1)
	for name, text := range map[string]string{
		"another conversation": other, "without a seal": string(safefile.Unsealed([]byte(other))), "empty": "", "damaged": "{", "cut off": string(ours[:len(ours)-1]),
	} {
		said, repo.Env = nil, &Host{Notify: repo.Env.Notify}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		require.Empty(t, s.conversations(), name)
		require.Empty(t, s.conversations(), name)
		require.Len(t, said, 1, name)
		require.Contains(t, said[0], s.file)
	}
	require.NoError(t, s.Use(idOf(2), noon))
	require.Equal(t, []conversation.ID{idOf(2)}, s.conversations())
}

func TestSessionOfATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := closedRepo(dir, dir).Session(&Host{}), closedRepo(dir, dir).Session(&Host{})
	require.Equal(t, one.file, two.file, "a process stays in its session")
	require.Equal(t, one.Name, two.Name)
	require.Regexp(t, `^sid=\d+`, one.Name)
}

func TestSessionsOfManyProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := closedRepo(dir, dir).Session(&Host{Environ: []string{"JP_SESSION=mine"}})
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() { _ = s.Use(idOf(n), noon) })
	}
	all.Wait()
	require.NotEmpty(t, s.conversations(), "the file is whole after each race")
	left, err := os.ReadDir(filepath.Dir(filepath.Join(dir, ".git", "jp", SessionsFolder, s.file)))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing temporary stays")
}
