package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestIfFree(t *testing.T) {
	l := locks(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Dir(l.Dir)), 0o755))
	got := make(chan error, 1)
	free, err := l.IfFree(id, func() {
		f, err := os.OpenFile(filepath.Join(l.Dir, string(id)+".lock"), os.O_RDWR, 0)
		require.NoError(t, err, "it is made, or nothing could be kept from taking it")
		defer f.Close()
		require.ErrorIs(t, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
		go func() {
			lock, err := l.Take(id, holder())
			lock.Release()
			got <- err
		}()
	})
	require.NoError(t, err)
	require.True(t, free)
	require.NoError(t, <-got, "who takes it waits, and does not fail")

	held, err := l.Wait(t.Context(), id, holder())
	require.NoError(t, err)
	free, err = l.IfFree(id, func() { t.Error("it is held") })
	require.NoError(t, err)
	require.False(t, free)
	require.NoError(t, held.Release())
}

func TestIfFreeWhereItCannotBeTold(t *testing.T) {
	l := locks(t)
	require.NoError(t, os.MkdirAll(l.Dir, 0o755))
	require.NoError(t, os.Symlink("elsewhere", filepath.Join(l.Dir, string(id)+".lock")))
	free, err := l.IfFree(id, func() { t.Error("nobody knows") })
	require.ErrorContains(t, err, string(id))
	require.False(t, free)
}
