package gitstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore"
)

func TestKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "jp", "key")
	keys := make([][]byte, 64)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := gitstore.LoadKey(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	require.Len(t, keys[0], 32)
	for _, key := range keys {
		require.Equal(t, keys[0], key)
	}
	again, err := gitstore.LoadKey(path)
	require.NoError(t, err)
	require.Equal(t, keys[0], again)

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	dir, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, dir, 1, "nothing is left behind")
	other, err := gitstore.LoadKey(filepath.Join(t.TempDir(), "key"))
	require.NoError(t, err)
	require.NotEqual(t, keys[0], other)
}

// A damaged key is never replaced: every event would become a stranger's.
func TestDamagedKeyIsRefused(t *testing.T) {
	for _, content := range []string{"", "ab", strings.Repeat("x", 64), strings.Repeat("a", 65), strings.Repeat("a", 63)} {
		path := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := gitstore.LoadKey(path)
		require.ErrorContains(t, err, path)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(left))
	}
}
