package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestRowsOfLargeDataHaveNamesOfTheirOwn(t *testing.T) {
	names := largeNames("5 events")
	require.Len(t, names, 2*len(largeCommands))
	slices.Sort(names)
	require.Equal(t, names, slices.Compact(slices.Clone(names)))
}

func TestASearchThatFindsNothingIsMeasured(t *testing.T) {
	u, err := once(t.Context(), played(t, "exit 1"), t.TempDir(), "grep word")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("programs may not be traced here: ", err)
	}
	require.NoError(t, err)
	require.Positive(t, u.peak)
	_, err = once(t.Context(), played(t, "echo broken >&2; exit 1"), t.TempDir(), "grep word")
	require.ErrorContains(t, err, "broken")
}

func TestPackingIsAwaited(t *testing.T) {
	repo, err := testBench(t).newRepo(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.NoError(t, awaitPacking(t.Context(), repo), "nothing to pack")
	require.False(t, packs(repo))
	path := filepath.Join(repo.CommonDir, "jp", "packing.lock")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	lock, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	require.True(t, packs(repo))
	require.NoError(t, lock.Close())
	require.False(t, packs(repo))
}
