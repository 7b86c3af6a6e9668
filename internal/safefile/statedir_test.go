package safefile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safefile"
)

func TestFoldersAreMade(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, safefile.StateDir{GitDir: dir}.Check("drafts"), "nothing is in the way")
	require.NoDirExists(t, filepath.Join(dir, "jp"))
	require.NoError(t, safefile.StateDir{GitDir: dir}.Replace("drafts", "a", []byte("text"), safefile.Options{}))
	text, err := safefile.StateDir{GitDir: dir}.Read("drafts", "a")
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	require.NoError(t, safefile.StateDir{GitDir: dir}.Remove("drafts", "a"))
	require.NoError(t, safefile.StateDir{GitDir: dir}.Remove("drafts", "a"), "there is none")
	require.NoError(t, safefile.StateDir{GitDir: dir}.Remove("other", "a"), "nor a folder")
	_, err = safefile.StateDir{GitDir: dir}.Read("drafts", "a")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, safefile.StateDir{GitDir: dir}.Empty("other"), "there is no folder")
	for _, name := range []string{"a", "b", ".new-c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "jp/drafts", name), nil, 0o600))
	}
	require.NoError(t, safefile.StateDir{GitDir: dir}.Empty("drafts"))
	require.NoError(t, os.Remove(filepath.Join(dir, "jp/drafts")), "it is empty")
	_, err = safefile.StateDir{GitDir: filepath.Join(dir, "missing")}.Open()
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestNoLinkIsFollowed(t *testing.T) {
	for _, at := range []string{"jp", "jp/drafts"} {
		for _, what := range []string{"outside", "inside", "file"} {
			dir, outside := t.TempDir(), t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "hooks", "drafts"), 0o700))
			require.NoError(t, os.Mkdir(filepath.Join(outside, "drafts"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(at)), 0o700))
			path := filepath.Join(dir, at)
			switch what {
			case "outside":
				require.NoError(t, os.Symlink(outside, path))
			case "inside":
				require.NoError(t, os.Symlink(filepath.Join(dir, "hooks"), path))
			case "file":
				require.NoError(t, os.WriteFile(path, nil, 0o600))
			}
			var link *safefile.LinkError
			_, err := safefile.StateDir{GitDir: dir}.Open("drafts")
			require.ErrorAs(t, err, &link)
			require.Equal(t, path, link.Path)
			require.ErrorAs(t, safefile.StateDir{GitDir: dir}.Check("drafts"), &link)
			require.ErrorAs(t, safefile.StateDir{GitDir: dir}.Replace("drafts", "a", []byte("x"), safefile.Options{}), &link)
			require.ErrorAs(t, safefile.StateDir{GitDir: dir}.Remove("drafts", "a"), &link)
			require.ErrorAs(t, safefile.StateDir{GitDir: dir}.Empty("drafts"), &link)
			_, err = safefile.StateDir{GitDir: dir}.Read("drafts", "a")
			require.ErrorAs(t, err, &link)
			for _, empty := range []string{filepath.Join(outside, "drafts"), filepath.Join(dir, "hooks", "drafts")} {
				entries, err := os.ReadDir(empty)
				require.NoError(t, err)
				require.Empty(t, entries)
			}
		}
	}
}

func TestNoFilesLinkIsFollowed(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o600))
	f, err := safefile.StateDir{GitDir: dir}.Open("drafts")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "jp/drafts/a")))
	_, err = f.OpenFile("a", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	require.Error(t, err)
	_, err = safefile.StateDir{GitDir: dir}.Read("drafts", "a")
	require.Error(t, err)
	require.NoError(t, safefile.ReplaceIn(f, "a", []byte("jp's"), safefile.Options{}), "the link is replaced")
	text, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
}

// Files for several users are shared when they are made, and other files are not.
func TestWhatIsMadeIsShared(t *testing.T) {
	dir := t.TempDir()
	var shared []string
	in := safefile.StateDir{GitDir: dir, Share: func(f *os.File) error {
		name, err := filepath.Rel(dir, f.Name())
		shared = append(shared, name)
		return err
	}}
	for range 2 {
		f, err := in.Open("locks")
		require.NoError(t, err)
		lock, err := f.OpenShared("a.lock", 0o600)
		require.NoError(t, err)
		_, err = lock.WriteString("held")
		require.NoError(t, err)
		require.NoError(t, lock.Close())
		require.NoError(t, f.Close())
	}
	require.NoError(t, in.Replace("drafts", "a", []byte("mine"), safefile.Options{}))
	require.Equal(t, []string{"jp", "jp/locks", "jp/locks/a.lock", "jp/drafts"}, shared)
}
