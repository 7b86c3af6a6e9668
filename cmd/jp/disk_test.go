//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// small makes a file system of a size, or skips the test if that is not permitted.
func small(t *testing.T, bytes string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size="+bytes); err != nil {
		// Only a real file system can be really full, and mounting one is root's.
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// fillUp writes zeros until only some bytes are left, and returns a function that frees the rest
// again.
func fillUp(t *testing.T, dir string, leave int) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	block := make([]byte, 4096)
	for {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	info, err := f.Stat()
	require.NoError(t, err)
	require.NoError(t, f.Truncate(max(0, info.Size()-int64(leave))))
	require.NoError(t, f.Close())
	return func() { require.NoError(t, os.Remove(path)) }
}

// TestFullDisk fills the disk at several points of a turn: durable events are there, and with space
// again it goes on.
func TestFullDisk(t *testing.T) {
	p := newPlace(t)
	p.write("../five.toml", fiveTools)
	disk := small(t, "4m")
	p.git("clone", "-q", "--no-hardlinks", ".", filepath.Join(disk, "repo"))
	p.dir = filepath.Join(disk, "repo")
	p.environ = append(p.environ, "TMPDIR="+t.TempDir())
	script, err := os.ReadFile(filepath.Join(filepath.Dir(p.environHome()), "five.toml"))
	require.NoError(t, err)
	p.write("../five.toml", string(script))
	require.Zero(t, p.jp("query", "-y", "-m", "script/../five.toml", "Go").exit)
	failed := 0
	for _, leave := range []int{0, 8 << 10, 24 << 10, 48 << 10, 64 << 10, 80 << 10, 96 << 10, 160 << 10} {
		free := fillUp(t, disk, leave)
		full := p.jp("query", "--new", "-y", "--json", "-m", "script/../five.toml", "Go")
		looked := p.jp("ls")
		free()
		require.Zero(t, looked.exit, looked.stderr)
		if full.exit != 0 {
			failed++
			require.Equal(t, 1, full.exit, full.stderr)
			require.Contains(t, full.stderr, `"code":"no_space"`)
		}
		lines := strings.SplitAfter(full.stdout, "\n")
		if strings.HasPrefix(full.stdout, `{"type":"started"`) {
			p.survives(lines[:len(lines)-1])
		}
		require.Zero(t, p.jp("verify", "--all").exit)
		require.Empty(t, p.git("fsck", "--strict", "--no-dangling"))
		_ = os.Remove(filepath.Join(p.dir, "made.txt"))
	}
	require.Positive(t, failed)
	require.Zero(t, p.jp("query", "--new", "-y", "-m", "script/../five.toml", "Go").exit)
}

// TestReadOnly reads a repository that cannot be written, and gets an error from commands that must
// write.
func TestReadOnly(t *testing.T) {
	p := newPlace(t)
	p.write("../five.toml", fiveTools)
	p.write("../talk.toml", "[[reply]]\ntimes = 9\nmessage = \"Hi.\"\n")
	require.Zero(t, p.jp("query", "-y", "-m", "script/../five.toml", "Go").exit)
	readOnly(t, p.dir)
	for _, args := range [][]string{
		{"ls"}, {"print"}, {"log", "-p"}, {"show"}, {"show", "@9"}, {"show", "--ref", "@3"}, {"verify", "--all"},
	} {
		out := p.jp(args...)
		require.Zero(t, out.exit, "%v: %s", args, out.stderr)
		require.NotEmpty(t, out.stdout)
		require.Empty(t, out.stderr)
	}
	for _, args := range [][]string{{"query", "And now?"}, {"query", "--new", "-m", "script/../five.toml", "Go"}, {"config", "init"}, {"pack"}} {
		out := p.jp(args...)
		require.Equal(t, 1, out.exit, "%v: %s", args, out.stderr)
		require.Regexp(t, `^Error: the repository cannot be written to: `, out.stderr)
	}
	out := p.jp("query", "--new", "-m", "script/../talk.toml", "Hello")
	helped := p.helps(out.stderr, "ask-unrecorded", "…=Hello", "+ -m script/../talk.toml")
	require.Equal(t, "Hi.\n", helped.stdout, helped.stderr)
	require.Contains(t, p.helps(out.stderr, "verify-all").stdout, "ok: 1 conversation of 1")
}

// readOnly makes a directory read-only until the test ends: by a mount, or by its mode if that has an
// effect.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	err := unix.Mount(dir, dir, "", unix.MS_BIND, "")
	if err == nil {
		t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
		require.NoError(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
		return
	}
	if os.Geteuid() == 0 {
		// The modes below have no effect on root.
		t.Skipf("root writes wherever it is, and cannot mount: %v", err)
	}
	require.True(t, errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES), err)
	chmodAll(t, dir, 0o555)
	t.Cleanup(func() { chmodAll(t, dir, 0o755) })
}

// chmodAll gives all directories below dir a mode.
func chmodAll(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return os.Chmod(path, mode|0o555)
	}))
}
