package export

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWriteFileKeepsWhatStandsAtThePath(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(at(name))
		require.NoError(t, err)
		return string(text)
	}
	require.EqualError(t, WriteFile(at("new/file"), writing("one")), "there is no folder "+at("new"))
	require.NoError(t, os.Mkdir(at("new"), 0o700))
	require.NoError(t, WriteFile(at("new/file"), writing("one")))
	require.NoError(t, WriteFile(at("new/file"), writing("two")))
	require.Equal(t, "two", read("new/file"))

	require.NoError(t, os.Symlink("new/file", at("link")))
	require.NoError(t, WriteFile(at("link"), writing("three")))
	require.Equal(t, "three", read("new/file"))
	info, err := os.Lstat(at("link"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)

	require.ErrorIs(t, WriteFile(at("new"), writing("x")), unix.EISDIR)

	require.NoError(t, unix.Mkfifo(at("pipe"), 0o600))
	got := make(chan string)
	go func() {
		text := ""
		if pipe, err := os.Open(at("pipe")); err == nil {
			all, _ := io.ReadAll(pipe)
			text = string(all)
			pipe.Close()
		}
		got <- text
	}()
	require.NoError(t, WriteFile(at("pipe"), writing("four")))
	require.Equal(t, "four", <-got)
	info, err = os.Lstat(at("pipe"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeNamedPipe)
}

func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}
