package process_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/process"
)

// converse proves that listener and dialer are connected, and that each accepts the other.
func converse(t *testing.T, r process.Registry, l *net.UnixListener) {
	t.Helper()
	near, err := r.Dial(t.Context(), id)
	require.NoError(t, err)
	defer near.Close()
	far, err := l.AcceptUnix()
	require.NoError(t, err)
	defer far.Close()
	require.NoError(t, process.CheckPeer(far))
	_, err = near.Write([]byte("hello"))
	require.NoError(t, err)
	got := make([]byte, 5)
	_, err = far.Read(got)
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
}

func TestSocket(t *testing.T) {
	r := registry(t)
	_, err := r.Dial(t.Context(), id)
	require.ErrorIs(t, err, fs.ErrNotExist, "there is not even a folder")
	l, err := r.Listen(id)
	require.NoError(t, err)
	converse(t, r, l)
	path := at(r, string(id)+".sock")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.ModeSocket|0o600, info.Mode())
	require.Equal(t, []string{string(id) + ".sock"}, names(t, r))

	require.NoError(t, l.Close())
	require.FileExists(t, path, "closing removes nothing: another process may have the name by now")
	_, err = r.Dial(t.Context(), id)
	require.ErrorIs(t, err, unix.ECONNREFUSED)

	again, err := r.Listen(id)
	require.NoError(t, err, "a stale socket is in nobody's way")
	defer again.Close()
	converse(t, r, again)
	require.NoError(t, r.Remove(id))
	_, err = r.Dial(t.Context(), id)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestDialWantsASocketOfOurs(t *testing.T) {
	r := registry(t)
	real, err := r.Listen(other)
	require.NoError(t, err)
	defer real.Close()
	path := at(r, string(id)+".sock")
	for name, plant := range map[string]func() error{
		"link":   func() error { return os.Symlink(other+".sock", path) },
		"file":   func() error { return os.WriteFile(path, nil, 0o600) },
		"folder": func() error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, plant())
			defer os.Remove(path)
			_, err := r.Dial(t.Context(), id)
			require.ErrorIs(t, err, process.ErrNotOurs)
			require.ErrorContains(t, err, path)
		})
	}
}

func TestListenReplacesALink(t *testing.T) {
	r := registry(t)
	require.NoError(t, os.MkdirAll(r.Folder(), 0o700))
	require.NoError(t, os.Symlink("/nowhere", at(r, string(id)+".sock")))
	l, err := r.Listen(id)
	require.NoError(t, err)
	defer l.Close()
	converse(t, r, l)
}

func TestDialEndsWithItsContext(t *testing.T) {
	r := registry(t)
	l, err := r.Listen(id)
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Dial(ctx, id)
	require.ErrorIs(t, err, context.Canceled)
}

// A path that is too long for a socket works if descriptors have paths, and is an error elsewhere.
func TestLongPath(t *testing.T) {
	r := registry(t)
	r.DataDir = filepath.Join(r.DataDir, strings.Repeat("a", 100), strings.Repeat("b", 100))
	l, err := r.Listen(id)
	if _, errProc := os.Stat("/proc/self/fd"); errProc != nil {
		require.ErrorIs(t, err, process.ErrPathTooLong)
		return
	}
	require.NoError(t, err)
	defer l.Close()
	converse(t, r, l)
}
