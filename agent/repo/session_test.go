package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
)

// closedRepo is a repository that is never opened.
func closedRepo(dir, topLevel string) *Repo {
	_ = os.Mkdir(filepath.Join(dir, ".git"), 0o700) // once for all of a folder
	return repoOf(gitcmd.Repository{GitDir: filepath.Join(dir, ".git"), CommonDir: filepath.Join(dir, ".git"), TopLevel: topLevel})
}

// linkedRepo is a linked working tree of one that is never opened.
func linkedRepo(t *testing.T, dir, name string) *Repo {
	t.Helper()
	git := filepath.Join(dir, ".git", "worktrees", name)
	require.NoError(t, os.MkdirAll(git, 0o700))
	return repoOf(gitcmd.Repository{GitDir: git, CommonDir: filepath.Join(dir, ".git"), TopLevel: filepath.Join(dir, name)})
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
	linked.TopLevel = filepath.Join(dir, "elsewhere")
	require.Equal(t, []conversation.ID{idOf(1)}, linked.Session(mine).conversations(), "the working tree was moved")
	require.NoError(t, os.RemoveAll(linked.GitDir))
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

func TestSessionsOfAnOlderJP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := closedRepo(dir, dir).Session(&Host{Environ: []string{"JP_SESSION=mine"}})
	folder := filepath.Join(dir, ".git", "jp", SessionsFolder)
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, s.byPath), []byte(`{"history":[{"id":"jp-c17952552000-k3f9"}]}`), 0o600))
	require.Equal(t, []conversation.ID{"jp-c17952552000-k3f9"}, s.conversations())
	require.NoError(t, s.Use(idOf(1), noon))
	require.Equal(t, []conversation.ID{idOf(1), "jp-c17952552000-k3f9"}, s.conversations())
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1, "its file is kept under one name")
}

func TestSessionOfATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := closedRepo(dir, dir).Session(&Host{}), closedRepo(dir, dir).Session(&Host{})
	require.Equal(t, one.file, two.file, "a process stays in its session")
	require.Equal(t, one.Name, two.Name)
	require.Regexp(t, `^sid=\d+`, one.Name)
}

func TestADamagedSessionForgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := closedRepo(dir, dir).Session(&Host{Environ: []string{"JP_SESSION=mine"}})
	require.NoError(t, s.Use(idOf(1), noon))
	for text, want := range map[string]int{
		"":     0,
		"{":    0,
		"null": 0,
		`{"history":[{"id":"../../etc/passwd"},{"id":"jp-c17952552000-k3f9"},{"id":""}]}`: 1,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "jp", SessionsFolder, s.file), []byte(text), 0o666))
		require.Len(t, s.conversations(), want, text)
	}
	require.NoError(t, s.Use(idOf(2), noon))
	require.Equal(t, idOf(2), s.conversations()[0])
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
