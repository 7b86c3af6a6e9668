package process

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A process that is being started has the same open file for a moment.
func TestWhatIsLetGoIsFreeForAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	looked, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, flock(looked, unix.LOCK_EX|unix.LOCK_NB))
	child, err := unix.Dup(int(looked.Fd()))
	require.NoError(t, err)
	defer unix.Close(child)
	unlock(looked)

	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, flock(f, unix.LOCK_EX|unix.LOCK_NB))
}

// So it is with the lock of a conversation, unless it is handed on to that process.
func TestAReleasedLockIsFreeUnlessHandedOn(t *testing.T) {
	for name, handed := range map[string]bool{"released": false, "handed on": true} {
		t.Run(name, func(t *testing.T) {
			l := Locks{Dir: t.TempDir()}
			lock, err := l.Take(someID, Holder{PID: 1})
			require.NoError(t, err)
			child, err := unix.Dup(int(lock.file.Fd()))
			require.NoError(t, err)
			if handed {
				require.Same(t, lock.file, lock.File())
			}
			require.NoError(t, lock.Release())
			_, held := l.Held(someID)
			require.Equal(t, handed, held)
			require.NoError(t, unix.Close(child))
			_, held = l.Held(someID)
			require.False(t, held)
		})
	}
}

// If the file system cannot tell whether a conversation is held, it is not free.
func TestWhereLocksFailNothingIsFree(t *testing.T) {
	defer func(was func(int, int) error) { lockFile = was }(lockFile)
	lockFile = func(fd, how int) error {
		if how == unix.LOCK_SH|unix.LOCK_NB {
			return unix.ENOLCK
		}
		return unix.Flock(fd, how)
	}
	free, err := Locks{Dir: t.TempDir()}.IfFree(someID, func() { t.Error("nobody knows") })
	require.ErrorIs(t, err, unix.ENOLCK)
	require.ErrorContains(t, err, string(someID))
	require.False(t, free)
}
