package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

func TestFilesBelow(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(at func(string) string) error
		differs bool
	}{
		"nothing":               {func(func(string) string) error { return nil }, false},
		"content of one size":   {func(at func(string) string) error { return os.WriteFile(at("a"), []byte("TEXT"), 0o600) }, true},
		"a file below":          {func(at func(string) string) error { return os.WriteFile(at("sub/b"), []byte("longer"), 0o600) }, true},
		"a new file":            {func(at func(string) string) error { return os.WriteFile(at("sub/new"), nil, 0o600) }, true},
		"a file that is gone":   {func(at func(string) string) error { return os.Remove(at("sub/b")) }, true},
		"the mode":              {func(at func(string) string) error { return os.Chmod(at("a"), 0o700) }, true},
		"another file in place": {func(at func(string) string) error { return os.Rename(at("sub/b"), at("a")) }, true},
		"a link":                {func(at func(string) string) error { return relink(at("link"), "sub/b") }, true},
		"behind a link":         {func(at func(string) string) error { return os.WriteFile(at("../outside"), []byte("TEXT"), 0o600) }, false},
		"a log":                 {func(at func(string) string) error { return os.WriteFile(at("a.log"), []byte("more"), 0o600) }, false},
		"a new log":             {func(at func(string) string) error { return os.WriteFile(at("b.log"), nil, 0o600) }, true},
		"a folder that is left": {func(at func(string) string) error { return os.WriteFile(at("git/new"), nil, 0o600) }, false},
		"an empty folder":       {func(at func(string) string) error { return os.Mkdir(at("empty"), 0o700) }, false},
		"a pipe":                {func(at func(string) string) error { return syscall.Mkfifo(at("pipe2"), 0o600) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, "tree", name) }
			for _, folder := range []string{"sub", "git"} {
				require.NoError(t, os.MkdirAll(at(folder), 0o700))
			}
			for _, name := range []string{"a", "sub/b", "git/c", "a.log", "../outside"} {
				require.NoError(t, os.WriteFile(at(name), []byte("text"), 0o600))
			}
			long := time.Unix(1e9, 0)
			require.NoError(t, os.Chtimes(at("a"), long, long)) // a write of the same moment would leave it
			require.NoError(t, os.Symlink("../outside", at("link")))
			require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
			list := func(most int) []worktree.Listed {
				files, ok := worktree.FilesBelow(at(""), []string{at("git")}, most)
				require.True(t, ok)
				return files
			}
			before := list(100)
			require.Len(t, before, 5)
			require.NoError(t, tt.change(at))
			require.Equal(t, tt.differs, fmt.Sprint(before) != fmt.Sprint(list(100)))
		})
	}
}

func relink(path, to string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Symlink(to, path)
}

func TestFilesBelowIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600))
	}
	for most, want := range map[int]bool{0: false, 9: false, 10: true, 11: true} {
		files, ok := worktree.FilesBelow(dir, nil, most)
		require.Equal(t, want, ok, most)
		require.Equal(t, want, len(files) == 10, most)
	}
	files, ok := worktree.FilesBelow(filepath.Join(dir, "none"), nil, 10)
	require.True(t, ok)
	require.Empty(t, files)
}
