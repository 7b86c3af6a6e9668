package safefile_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safefile"
)

func Example() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "state", "note")
	fmt.Println(safefile.Replace(path, []byte("first"), safefile.Options{}))
	fmt.Println(safefile.Replace(path, []byte("second"), safefile.Options{}))
	text, _ := os.ReadFile(path)
	fmt.Printf("%s\n", text)
	// Output:
	// <nil>
	// <nil>
	// second
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}

// alone asserts that a folder has one file only.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestModes(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	tests := []struct {
		name         string
		o            safefile.Options
		file, folder fs.FileMode
		second       fs.FileMode // after the file was made 0640, and replaced
	}{
		{"for the owner", safefile.Options{}, 0o600, 0o700, 0o600},
		{"for all", safefile.Options{Mode: 0o666, FolderMode: 0o777}, 0o644, 0o755, 0o644},
		{"kept", safefile.Options{Mode: 0o666, KeepMode: true}, 0o644, 0o700, 0o640},
		{"volatile", safefile.Options{Volatile: true}, 0o600, 0o700, 0o600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a", "b", "file")
			require.NoError(t, safefile.Replace(path, []byte(was), tt.o))
			require.Equal(t, tt.file, modeOf(t, path))
			require.Equal(t, tt.folder, modeOf(t, filepath.Dir(path)))
			require.Equal(t, tt.folder, modeOf(t, filepath.Dir(filepath.Dir(path))))
			require.NoError(t, os.Chmod(path, 0o640))
			require.NoError(t, safefile.Replace(path, []byte(is), tt.o))
			require.Equal(t, tt.second, modeOf(t, path))
			require.Equal(t, is, read(t, path))
			alone(t, path)
		})
	}
}

func TestMake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "file")
	require.NoError(t, safefile.CreateNew(path, []byte(was), safefile.Options{}))
	require.ErrorIs(t, safefile.CreateNew(path, []byte(is), safefile.Options{}), fs.ErrExist)
	require.Equal(t, was, read(t, path))
	alone(t, path)
}

func TestOneOfManyMakesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var wg sync.WaitGroup
	made := make(chan string, 8)
	for i := range cap(made) {
		wg.Go(func() {
			text := strings.Repeat(fmt.Sprint(i), 1000)
			if safefile.CreateNew(path, []byte(text), safefile.Options{}) == nil {
				made <- text
			}
		})
	}
	wg.Wait()
	close(made)
	require.Len(t, made, 1)
	require.Equal(t, <-made, read(t, path))
	alone(t, path)
}

// Readers see one of the contents at any time.
func TestReadersBesideWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	texts := []string{strings.Repeat("a", 9000), strings.Repeat("b", 5000)}
	require.NoError(t, safefile.Replace(path, []byte(texts[0]), safefile.Options{Volatile: true}))
	var wg sync.WaitGroup
	for _, text := range texts {
		wg.Go(func() {
			for range 200 {
				if err := safefile.Replace(path, []byte(text), safefile.Options{Volatile: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 400 {
		require.Contains(t, texts, read(t, path))
	}
	wg.Wait()
	alone(t, path)
}

func TestWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorIs(t, safefile.Replace(filepath.Join(file, "below"), []byte(is), safefile.Options{}), syscall.ENOTDIR)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "folder", "full"), 0o700))
	require.Error(t, safefile.Replace(filepath.Join(dir, "folder"), []byte(is), safefile.Options{}))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

// Every folder in which one was made is flushed, also the one that was there.
func TestFoldersAboveNewOnesAreFlushed(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")
	flushed, err := safefile.MakeFoldersFlushed(b, safefile.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{a, dir}, flushed)
	flushed, err = safefile.MakeFoldersFlushed(b, safefile.Options{})
	require.NoError(t, err)
	require.Empty(t, flushed, "nothing was made")
	flushed, err = safefile.MakeFoldersFlushed(filepath.Join(b, "c"), safefile.Options{Volatile: true})
	require.NoError(t, err)
	require.Empty(t, flushed, "it waits for no disk")
}
