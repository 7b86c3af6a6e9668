package safefile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/safefile"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/faultfs"
)

// A shelf is a folder of a disk that fails as a test wants it to.
type shelf struct{ odb.Dir }

func (s shelf) Create(name string, mode fs.FileMode) (safefile.File, error) {
	f, err := s.Dir.Create(name, uint32(mode))
	if err != nil {
		return nil, err
	}
	return sheet{f}, nil
}

type sheet struct{ odb.File }

func (sheet) Chmod(fs.FileMode) error { return nil }

const (
	name = "file"
	was  = "what the file had"
	is   = "what the file is to have, which is a little longer"
)

func newDisk(t *testing.T, journal bool) *faultfs.Disk {
	t.Helper()
	disk := faultfs.NewDisk(journal, "/d")
	require.NoError(t, replace(disk, was, safefile.Options{}))
	return disk
}

func replace(fsys odb.FS, text string, o safefile.Options) error {
	dir, err := fsys.OpenDir("/d")
	if err != nil {
		return err
	}
	return safefile.ReplaceIn(shelf{dir}, name, []byte(text), o)
}

// content is a reader's result, with the number of temporary files.
func content(t *testing.T, disk *faultfs.Disk) (text string, temporary int) {
	t.Helper()
	dir, err := disk.OpenDir("/d")
	require.NoError(t, err)
	entries, err := dir.List()
	require.NoError(t, err)
	for _, e := range entries {
		if safefile.IsTemporary(e.Name) {
			temporary++
		}
	}
	f, err := dir.Open(name)
	require.NoError(t, err)
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(data), temporary
}

// operations counts those of an undisturbed replacement.
func operations(t *testing.T, journal bool) int {
	t.Helper()
	fsys := faultfs.New(newDisk(t, journal), faultfs.Plan{})
	require.NoError(t, replace(fsys, is, safefile.Options{}))
	return fsys.Count()
}

func TestReplacingFails(t *testing.T) {
	felt := 0
	faults := []faultfs.Plan{{Err: syscall.EIO}, {Err: syscall.ENOSPC}, {Err: syscall.EDQUOT}, {Short: true}}
	for _, journal := range []bool{true, false} {
		for k := 1; k <= operations(t, journal); k++ {
			for i := range 2 * len(faults) {
				plan := faults[i/2]
				plan.At, plan.ForGood = k, i%2 == 1
				what := fmt.Sprintf("journal %v, %+v", journal, plan)
				disk := newDisk(t, journal)
				fsys := faultfs.New(disk, plan)
				err := replace(fsys, is, safefile.Options{})
				require.Equal(t, fsys.Felt(), err != nil, what)
				if plan.Err != nil {
					require.ErrorIs(t, err, plan.Err, what)
				}
				if fsys.Felt() {
					felt++
				}
				text, temporary := content(t, disk)
				requireOldOrNew(t, text, err == nil, what)
				require.True(t, temporary == 0 || plan.ForGood, what)
				for seed := range uint64(row.Of(4, 16, 64)) {
					text, _ := content(t, disk.Crash(rand.New(rand.NewPCG(uint64(k), seed))))
					requireOldOrNew(t, text, err == nil, what+", then a crash")
				}
				require.NoError(t, replace(disk, is, safefile.Options{}), what)
			}
		}
	}
	row.Log(t, row.Row{
		Class: "a", Name: "a file replaced as a whole: operation k fails", Points: felt,
		Note: "settings, approvals, key, session, draft, registry, cache: the old content or the new",
	})
}

func TestReplacingCrashes(t *testing.T) {
	tried := 0
	for _, journal := range []bool{true, false} {
		n := operations(t, journal)
		for k := 1; k <= n+1; k++ {
			disk := newDisk(t, journal)
			err := replace(faultfs.New(disk, faultfs.Plan{At: k, Crash: true}), is, safefile.Options{})
			require.Equal(t, k > n, err == nil)
			for seed := range uint64(row.Of(20, 100, 400)) {
				rng := rand.New(rand.NewPCG(uint64(k), seed))
				cut := disk.Crash(rng)
				text, _ := content(t, cut)
				requireOldOrNew(t, text, err == nil, fmt.Sprintf("journal %v, crash at %d", journal, k))
				again := replace(faultfs.New(cut, faultfs.Plan{At: 1 + rng.IntN(n), Crash: true}), is, safefile.Options{})
				require.ErrorIs(t, again, faultfs.ErrCrashed)
				text, _ = content(t, cut.Crash(rng))
				requireOldOrNew(t, text, false, fmt.Sprintf("journal %v, crash at %d, and again", journal, k))
			}
			tried++
		}
	}
	row.Log(t, row.Row{
		Class: "a", Name: "a file replaced as a whole: crash at operation k, and again", Points: tried,
		Note: fmt.Sprintf("%d ways each to lose what was not flushed", row.Of(20, 100, 400)),
	})
}

func requireOldOrNew(t *testing.T, text string, acked bool, what string) {
	t.Helper()
	require.True(t, text == is || text == was && !acked, "%s: acknowledged %v, and it has %q", what, acked, text)
}

// Without its flushes the disk must show that something is lost.
func TestVolatileFilesAreLost(t *testing.T) {
	lost := 0
	for _, journal := range []bool{true, false} {
		disk := newDisk(t, journal)
		require.NoError(t, replace(disk, is, safefile.Options{Volatile: true}))
		for seed := range uint64(60) {
			if text, _ := content(t, disk.Crash(rand.New(rand.NewPCG(5, seed)))); text != is && text != was {
				lost++
			}
		}
	}
	require.Positive(t, lost)
}

// Another process may have chosen the same name: its file is left alone.
func TestATemporaryFileOfAnotherIsLeftAlone(t *testing.T) {
	removed := false
	err := safefile.ReplaceIn(taken{&removed}, name, []byte(is), safefile.Options{})
	require.ErrorIs(t, err, fs.ErrExist)
	require.False(t, removed)
}

type taken struct{ removed *bool }

func (taken) Create(string, fs.FileMode) (safefile.File, error) { return nil, fs.ErrExist }
func (taken) Rename(string, string) error                       { return errors.New("not expected") }
func (taken) Sync() error                                       { return errors.New("not expected") }
func (f taken) Remove(string) error {
	*f.removed = true
	return nil
}

// A file that keeps its mode is as safe as any other.
func TestAFileThatKeepsItsModeIsFlushed(t *testing.T) {
	for _, journal := range []bool{true, false} {
		disk := newDisk(t, journal)
		dir, err := disk.OpenDir("/d")
		require.NoError(t, err)
		require.NoError(t, safefile.ReplaceKeeping(shelf{dir}, name, []byte(is), 0o640, safefile.Options{}))
		for seed := range uint64(20) {
			text, _ := content(t, disk.Crash(rand.New(rand.NewPCG(6, seed))))
			require.Equal(t, is, text, "journal %v", journal)
		}
	}
}

// Some file systems report a full disk only on closing.
func TestClosingFails(t *testing.T) {
	for _, volatile := range []bool{false, true} {
		disk := newDisk(t, true)
		dir, err := disk.OpenDir("/d")
		require.NoError(t, err)
		err = safefile.ReplaceIn(full{shelf{dir}}, name, []byte(is), safefile.Options{Volatile: volatile})
		require.ErrorIs(t, err, syscall.EDQUOT)
		text, temporary := content(t, disk)
		require.Equal(t, was, text)
		require.Zero(t, temporary)
	}
}

// full is a folder whose files lose data on closing.
type full struct{ shelf }

func (f full) Create(name string, mode fs.FileMode) (safefile.File, error) {
	file, err := f.shelf.Create(name, mode)
	return unclosed{file}, err
}

type unclosed struct{ safefile.File }

func (f unclosed) Close() error { return errors.Join(f.File.Close(), syscall.EDQUOT) }
