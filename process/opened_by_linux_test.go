package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/process"
)

func TestOpeners(t *testing.T) {
	dir := t.TempDir()
	var files []os.FileInfo
	for _, name := range []string{"open", "closed"} {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		info, err := f.Stat()
		require.NoError(t, err)
		files = append(files, info)
		if name == "closed" {
			require.NoError(t, f.Close())
		} else {
			defer f.Close()
		}
	}
	by, _ := process.OpenedBy(files)
	require.Equal(t, [][]int{{os.Getpid()}, nil}, by)
}

// A file that was renamed after it was opened has its new name.
func TestOpenersOfARenamedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "before")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	after := path + "-after"
	require.NoError(t, os.Rename(path, after))
	info, err := os.Lstat(after)
	require.NoError(t, err)
	by, _ := process.OpenedBy([]os.FileInfo{info})
	require.Equal(t, [][]int{{os.Getpid()}}, by)
}
