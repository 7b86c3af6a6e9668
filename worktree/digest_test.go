package worktree_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

func TestDigest(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "tree", name) }
	require.NoError(t, os.MkdirAll(at("sub"), 0o700))
	for name, text := range map[string]string{"a": "text", "b": "text", "c": "other", "../outside": "text"} {
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink("a", at("link")))
	require.NoError(t, os.Symlink("../outside", at("out")))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	root, err := os.OpenRoot(at(""))
	require.NoError(t, err)
	defer root.Close()
	digest := func(key, path string) string {
		d, ok := worktree.Digest(root, []byte(key), path)
		require.True(t, ok)
		return d
	}
	require.Len(t, digest("k", "a"), 64)
	require.Equal(t, digest("k", "a"), digest("k", "b"))
	require.Equal(t, digest("k", "a"), digest("k", "link"))
	require.NotEqual(t, digest("k", "a"), digest("k", "c"))
	require.NotEqual(t, digest("k", "a"), digest("other", "a"), "it tells nothing without the key")
	require.Empty(t, digest("k", "missing"))
	require.Empty(t, digest("k", "a/below"))
	for _, path := range []string{"out", "pipe", "../outside"} {
		require.Equal(t, worktree.Unread, digest("k", path), path)
	}
	_, ok := worktree.Digest(root, []byte("k"), "sub")
	require.False(t, ok)
}
