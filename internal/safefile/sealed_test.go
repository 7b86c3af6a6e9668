package safefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A sealed file is readable only unchanged, under its own name, and with the same key.
func TestSealed(t *testing.T) {
	t.Parallel()
	var told int
	key := func(text string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(text), nil }
	}
	dir := StateDir{GitDir: t.TempDir(), Key: key("k"), Told: func(*SealError) { told++ }}
	for _, text := range []string{"", "a", "a\n", "# jp-seal x\n"} {
		require.NoError(t, dir.ReplaceSealed("f", "n", []byte(text), Options{}))
		got, err := dir.ReadSealed("f", "n")
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	path := func(name string) string { return filepath.Join(dir.GitDir, StateDirName, "f", name) }
	ours, err := os.ReadFile(path("n"))
	require.NoError(t, err)
	theirs := dir
	theirs.Key = key("another")
	require.NoError(t, theirs.ReplaceSealed("f", "theirs", []byte("text"), Options{}))
	for name, text := range map[string]string{
		"other": string(ours), "changed": "x" + string(ours), "cut": string(ours[:len(ours)-2]), "plain": "text\n", "empty": "",
	} {
		require.NoError(t, os.WriteFile(path(name), []byte(text), 0o600))
	}
	for n, name := range []string{"other", "changed", "cut", "plain", "empty", "theirs"} {
		_, err := dir.ReadSealed("f", name)
		var refused *SealError
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, path(name), refused.Path)
		require.Equal(t, n+1, told)
	}
	require.NoError(t, os.WriteFile(path("huge"), nil, 0o600))
	require.NoError(t, os.Truncate(path("huge"), mostRead+1))
	require.NoError(t, os.Symlink("n", path("link")))
	for _, name := range []string{"huge", "link"} {
		_, err := dir.ReadSealed("f", name)
		var refused *SealError
		require.ErrorAs(t, err, &refused, name)
	}
	_, err = dir.ReadSealed("f", "none")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Error(t, StateDir{GitDir: dir.GitDir}.ReplaceSealed("f", "n", nil, Options{}))
}
