package odb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// asNobody runs work without the right to write to others' files.
func asNobody(t *testing.T, work func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		work()
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, syscall.Setfsuid(nobody))
	defer syscall.Setfsuid(0)
	work()
}

func TestReadOnlyDirectory(t *testing.T) {
	for _, dir := range []string{"objects", "refs/jp/conversations"} {
		repo := newRepo(t)
		s := open(t, repo, odb.Options{Format: testFormat})
		objects := create(t, s, ref, 1)
		locked := filepath.Join(repo, ".git", dir)
		require.NoError(t, os.Chmod(locked, 0o555))
		t.Cleanup(func() { os.Chmod(locked, 0o755) })
		var err error
		asNobody(t, func() { err = s.Write(bg, appendBatch(ref, tip(objects), chain(tip(objects), 1, "x"))) })
		require.ErrorIs(t, err, odb.ErrReadOnly, dir)
		require.NotErrorIs(t, err, odb.ErrPoisoned)
		requireReads(t, s, objects)
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		// Only a real file system can be really full, and mounting one is root's.
		t.Skip("cannot mount a small tmpfs: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	git(t, dir, "init", "-q", "--template=")
	s := open(t, dir, odb.Options{Format: testFormat})
	head := tip(create(t, s, ref, 1))
	for i := 0; ; i++ {
		require.Less(t, i, 1000, "a disk of 256 KiB took it all")
		objects := chain(head, 1, fmt.Sprint(i))
		err := s.Write(bg, appendBatch(ref, head, objects))
		if err != nil {
			require.ErrorIs(t, err, odb.ErrNoSpace)
			break
		}
		head = tip(objects)
	}
	again := open(t, dir, odb.Options{Format: testFormat})
	got, err := again.ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, head, got)
	require.NoError(t, whole(again, head))
}

// git's write errors have the same classes as the Store's.
func TestTransactionSaysWhatIsFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,nr_inodes=400"); err != nil {
		// Only a real file system can be really full, and mounting one is root's.
		t.Skip("cannot mount a small tmpfs: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	git(t, dir, "init", "-q", "--template=")
	s := open(t, dir, withGit(dir))
	head := tip(create(t, s, ref, 1))
	for i := 0; ; i++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			break
		}
	}
	err := s.Transaction(bg, []odb.RefUpdate{{Ref: "refs/jp/archive/jp-c1", New: head}, {Ref: ref, Old: head}})
	require.ErrorIs(t, err, odb.ErrNoSpace)
	require.ErrorIs(t, err, syscall.ENOSPC)
	got, err := s.ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, head, got)
}
