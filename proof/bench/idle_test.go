package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// TestIdleConversationsAreAsTheirProcessesLeaveThem looks at the state in which jp would find each.
func TestIdleConversationsAreAsTheirProcessesLeaveThem(t *testing.T) {
	b := testBench(t)
	repo, err := b.newRepo(t.Context(), b.scratch)
	require.NoError(t, err)
	require.NoError(t, b.fillIdle(t.Context(), repo, 60))

	store, err := openUsersStore(repo)
	require.NoError(t, err)
	defer store.Close()
	infos, err := store.List(t.Context(), conversation.ScopeLive)
	require.NoError(t, err)
	require.Len(t, infos, 60)
	for _, i := range infos {
		require.Equal(t, conversation.StatusIdle, i.Summary.Status)
		seen, there, err := store.SeenHead(i.ID)
		require.NoError(t, err)
		require.True(t, there)
		require.Equal(t, i.Head, seen)
		events, err := store.Load(t.Context(), i.Head)
		require.NoError(t, err)
		standing, err := store.Standing(t.Context(), i.ID, i.Head, events)
		require.NoError(t, err)
		require.Equal(t, conversation.StandingOwn, standing)
		require.FileExists(t, filepath.Join(repo.CommonDir, "jp", "locks", string(i.ID)+".lock"))
	}
	packs, err := filepath.Glob(filepath.Join(objectsOf(repo), "pack", "*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	require.FileExists(t, filepath.Join(os.Getenv("HOME"), ".local/state/jp/key"))
}

func TestAListMustHaveAllConversations(t *testing.T) {
	repo, err := testBench(t).newRepo(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.NoError(t, listsAll(t.Context(), played(t, "echo a; echo b"), repo, 2))
	require.ErrorContains(t, listsAll(t.Context(), played(t, "echo a"), repo, 2), "1 conversations instead of 2")
	require.Error(t, listsAll(t.Context(), played(t, "exit 1"), repo, 0))
}
