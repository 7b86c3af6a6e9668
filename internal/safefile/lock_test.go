package safefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	require.NoError(t, TryShare(first))
	require.NoError(t, TryShare(second), "a share leaves room for others")
	require.ErrorIs(t, TryLock(second), ErrLocked)
	require.NoError(t, first.Close())
	require.NoError(t, TryLock(second))

	unlock, third := func() {}, open()
	require.ErrorIs(t, TryShare(third), ErrLocked)
	left := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	require.ErrorIs(t, Lock(ctx, third), left)

	waits := make(chan error)
	go func() {
		var err error
		unlock, err = LockFile(t.Context(), path)
		waits <- err
	}()
	require.NoError(t, second.Close())
	require.NoError(t, <-waits, "the lock is taken as soon as it is free")
	require.ErrorIs(t, TryLock(third), ErrLocked)
	unlock()
	require.NoError(t, Lock(context.Background(), third))

	require.NoError(t, os.Symlink(path, path+".link"))
	_, err := LockFile(t.Context(), path+".link")
	require.Error(t, err, "a link leads elsewhere")
	require.Error(t, Lock(context.Background(), first), "a closed file has no lock")
}

// TestUnlockOfSharedFile: a program that is being started shares the open file, but does not keep its lock.
func TestUnlockOfSharedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		return f
	}
	f, other := open(), open()
	defer other.Close()
	require.NoError(t, TryLock(f))
	shared, err := unix.Dup(int(f.Fd()))
	require.NoError(t, err)
	defer unix.Close(shared)
	require.ErrorIs(t, TryLock(other), ErrLocked)
	Unlock(f)
	require.NoError(t, TryLock(other))
}
