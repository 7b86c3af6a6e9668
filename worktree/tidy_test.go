package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// With many files in one folder, looking through it for each takes most of the time.
func TestTidyLooksThroughAFolderOnce(t *testing.T) {
	dir := t.TempDir()
	here, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer here.Close()
	r := &restoring{killed: map[string]bool{"restore-1": true}, tidied: map[string]bool{}}
	left := filepath.Join(dir, temporaryPrefix+"restore-1")
	for _, there := range []bool{false, true} {
		require.NoError(t, os.WriteFile(left, nil, 0o600))
		r.tidy(here, "d")
		_, err := os.Stat(left)
		require.Equal(t, there, err == nil)
	}
	r.tidy(here, "e")
	require.NoFileExists(t, left)
}
