package process_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
)

type conversationID = conversation.ID

// hold takes a conversation and registers it.
func hold(t *testing.T, r process.Registry, id conversation.ID) *process.Lock {
	t.Helper()
	lock, err := process.LocksIn(r.Repository).Take(id, holder())
	require.NoError(t, err)
	t.Cleanup(func() { lock.Release() })
	e := entry()
	e.ConversationID = id
	require.NoError(t, r.Put(e))
	return lock
}

func live(t *testing.T, r process.Registry) (ids []conversation.ID) {
	t.Helper()
	found, err := r.Live(t.Context())
	require.NoError(t, err)
	for id, e := range found {
		require.Equal(t, id, e.ConversationID)
		ids = append(ids, id)
	}
	return ids
}

func TestLive(t *testing.T) {
	r := registry(t)
	require.Empty(t, live(t, r), "there is not even a folder")
	lock := hold(t, r, id)
	hold(t, r, other)
	l, err := r.Listen(id)
	require.NoError(t, err)
	require.ElementsMatch(t, []conversation.ID{id, other}, live(t, r))

	require.NoError(t, l.Close())
	require.NoError(t, lock.Release()) // as if it had been killed
	require.Equal(t, []conversation.ID{other}, live(t, r))
	require.Equal(t, []string{other + ".json"}, names(t, r), "the entry and its socket went")
}

func TestLiveEndsWithItsContext(t *testing.T) {
	r := registry(t)
	hold(t, r, id)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Live(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// Two copies of a repository have one registry, and conversations of one name.
func TestCopiesOfARepository(t *testing.T) {
	a := registry(t)
	b := a
	b.Repository = filepath.Join(t.TempDir(), ".git")
	require.NoError(t, os.Mkdir(b.Repository, 0o755))
	stale := hold(t, a, id)
	require.NoError(t, stale.Release())
	held := hold(t, b, id)
	l, err := b.Listen(id)
	require.NoError(t, err)
	require.NoError(t, l.Close())

	require.Empty(t, live(t, a), "it is the copy's")
	require.NoError(t, a.Remove(id))
	require.NoError(t, a.Forget(id))
	require.Equal(t, []conversation.ID{id}, live(t, b))
	require.Len(t, names(t, b), 2)

	require.NoError(t, held.Release())
	require.Empty(t, live(t, a))
	require.Empty(t, names(t, a), "who meets a stale entry removes it, whose ever it is")
}

func TestOneRepositoryByTwoPaths(t *testing.T) {
	r := registry(t)
	hold(t, r, id)
	link := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.Symlink(r.Repository, link))
	r.Repository = link
	require.Equal(t, []conversation.ID{id}, live(t, r))
}

// The entry of a repository that was deleted is stale, and the repository does
// not come back.
func TestRepositoryIsGone(t *testing.T) {
	r := registry(t)
	hold(t, r, id)
	require.NoError(t, os.RemoveAll(r.Repository))
	require.Empty(t, live(t, r))
	require.Empty(t, names(t, r))
	require.NoDirExists(t, r.Repository)
}

func TestLeftovers(t *testing.T) {
	r := registry(t)
	hold(t, r, id)
	for _, name := range []string{".new-old", ".new-young", ".other"} {
		require.NoError(t, os.WriteFile(at(r, name), nil, 0o600))
	}
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{".new-old", ".other"} {
		require.NoError(t, os.Chtimes(at(r, name), long, long))
	}
	live(t, r)
	require.Equal(t, []string{".new-young", ".other", string(id) + ".json"}, names(t, r))
}
