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
	letGo(looked)

	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, flock(f, unix.LOCK_EX|unix.LOCK_NB))
}
