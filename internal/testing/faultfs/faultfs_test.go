package faultfs_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
)

// put makes a file with content under a temporary name and renames it, with
// the flushes that are asked for.
func put(t *testing.T, fsys odb.FS, fileFlush func(odb.File) error, dirFlush func(odb.Dir) error) {
	t.Helper()
	dir, err := fsys.OpenDir("/d")
	require.NoError(t, err)
	f, err := dir.Create("tmp", 0o644)
	require.NoError(t, err)
	_, err = f.Write([]byte("content"))
	require.NoError(t, err)
	require.NoError(t, fileFlush(f))
	require.NoError(t, dir.Rename("tmp", "name"))
	require.NoError(t, dirFlush(dir))
}

func read(disk *faultfs.Disk) (string, error) {
	dir, err := disk.OpenDir("/d")
	if err != nil {
		return "", err
	}
	f, err := dir.Open("name")
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(f)
	return string(data), err
}

// outcomes counts the states that a reader finds after many cuts.
func outcomes(disk *faultfs.Disk) (intact, missing, damaged int) {
	for seed := range uint64(200) {
		got, err := read(disk.Crash(rand.New(rand.NewPCG(7, seed))))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing++
		case got == "content":
			intact++
		default:
			damaged++
		}
	}
	return intact, missing, damaged
}

func TestWhatACutMayLeave(t *testing.T) {
	noFile := func(odb.File) error { return nil }
	noDir := func(odb.Dir) error { return nil }
	tests := []struct {
		name                     string
		journal                  bool
		file                     func(odb.File) error
		dir                      func(odb.Dir) error
		intact, missing, damaged bool
	}{
		{"all flushed", false, odb.File.Sync, odb.Dir.Sync, true, false, false},
		{"all flushed, journal", true, odb.File.Sync, odb.Dir.Sync, true, false, false},
		{"waited for, journal", true, odb.File.AwaitWriteout, odb.Dir.Sync, true, false, false},
		{"waited for, no journal", false, odb.File.AwaitWriteout, odb.Dir.Sync, true, false, true},
		{"started only, journal", true, odb.File.StartWriteout, odb.Dir.Sync, true, false, true},
		{"name not flushed", false, odb.File.Sync, noDir, true, true, false},
		{"name not flushed, journal", true, odb.File.AwaitWriteout, noDir, true, true, false},
		{"nothing flushed", false, noFile, noDir, true, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := faultfs.NewDisk(tt.journal, "/d")
			put(t, disk, tt.file, tt.dir)
			intact, missing, damaged := outcomes(disk)
			require.Equal(t, tt.intact, intact > 0)
			require.Equal(t, tt.missing, missing > 0)
			require.Equal(t, tt.damaged, damaged > 0)
		})
	}
}

// In a journal a later change survives only with all earlier ones.
func TestJournalKeepsTheOrder(t *testing.T) {
	disk := faultfs.NewDisk(true, "/d")
	dir, err := disk.OpenDir("/d")
	require.NoError(t, err)
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		require.NoError(t, dir.Mkdir(name))
	}
	for seed := range uint64(50) {
		cut, err := disk.Crash(rand.New(rand.NewPCG(1, seed))).OpenDir("/d")
		require.NoError(t, err)
		gone := false
		for _, name := range names {
			_, err := cut.Stat(name)
			require.False(t, gone && err == nil, "%s without the one before", name)
			gone = gone || err != nil
		}
	}
}

func TestRenameIsAtomic(t *testing.T) {
	disk := faultfs.NewDisk(true, "/d")
	put(t, disk, odb.File.Sync, odb.Dir.Sync)
	dir, err := disk.OpenDir("/d")
	require.NoError(t, err)
	require.NoError(t, dir.Rename("name", "other"))
	for seed := range uint64(50) {
		cut, err := disk.Crash(rand.New(rand.NewPCG(1, seed))).OpenDir("/d")
		require.NoError(t, err)
		entries, err := cut.List()
		require.NoError(t, err)
		require.Len(t, entries, 1)
	}
}

func TestPlan(t *testing.T) {
	boom := errors.New("boom")
	run := func(plan faultfs.Plan) (fsys *faultfs.FS, faults []error) {
		fsys = faultfs.New(faultfs.NewDisk(true, "/d"), plan)
		dir, err := fsys.OpenDir("/d") // operation 1
		faults = append(faults, err)
		if err != nil {
			return fsys, faults
		}
		for _, name := range []string{"a", "b", "c"} { // operations 2 to 4
			faults = append(faults, dir.Mkdir(name))
		}
		_, err = dir.Stat("a")
		return fsys, append(faults, err)
	}
	fsys, faults := run(faultfs.Plan{})
	require.Equal(t, []error{nil, nil, nil, nil, nil}, faults)
	require.Equal(t, 5, fsys.Count())
	require.Equal(t, []faultfs.Op{"opendir", "mkdir", "mkdir", "mkdir", "stat"}, fsys.Trace())

	_, faults = run(faultfs.Plan{At: 3, Err: boom})
	require.Equal(t, []error{nil, nil, boom, nil, nil}, faults)
	_, faults = run(faultfs.Plan{At: 3, Only: faultfs.Mkdir, Err: boom})
	require.Equal(t, []error{nil, nil, nil, boom, nil}, faults)
	_, faults = run(faultfs.Plan{At: 3, Err: boom, ForGood: true})
	require.Equal(t, []error{nil, nil, boom, boom, nil}, faults)
	_, faults = run(faultfs.Plan{At: 3, Crash: true})
	require.Equal(t, []error{nil, nil, faultfs.ErrCrashed, faultfs.ErrCrashed, faultfs.ErrCrashed}, faults)
	_, faults = run(faultfs.Plan{Skip: func(op faultfs.Op) bool { return op == faultfs.Mkdir }})
	require.ErrorIs(t, faults[4], fs.ErrNotExist)
}

func TestShortWrite(t *testing.T) {
	fsys := faultfs.New(faultfs.NewDisk(true, "/d"), faultfs.Plan{At: 3, Short: true})
	dir, err := fsys.OpenDir("/d")
	require.NoError(t, err)
	f, err := dir.Create("f", 0o644)
	require.NoError(t, err)
	n, err := f.Write([]byte("1234"))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	n, err = f.Write([]byte("34"))
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestAPlanIsFeltWhereItDoesSomething(t *testing.T) {
	for _, tt := range []struct {
		plan faultfs.Plan
		want bool
	}{
		{faultfs.Plan{}, false},
		{faultfs.Plan{At: 100, Err: io.ErrClosedPipe}, false},
		{faultfs.Plan{At: 1, Only: faultfs.Start, Err: io.ErrClosedPipe}, true},
		{faultfs.Plan{At: 1, Only: faultfs.Write, Short: true}, true},
		{faultfs.Plan{At: 1, Only: faultfs.Await, Short: true}, false},
		{faultfs.Plan{At: 3, Crash: true}, true},
	} {
		fsys := faultfs.New(faultfs.NewDisk(true, "/d"), tt.plan)
		if dir, err := fsys.OpenDir("/d"); err == nil {
			if f, err := dir.Create("x", 0o644); err == nil {
				_, _ = f.Write([]byte("content"))
				_, _ = f.StartWriteout(), f.AwaitWriteout()
			}
		}
		require.Equal(t, tt.want, fsys.Felt(), "%+v", tt.plan)
	}
}

func TestAge(t *testing.T) {
	disk := faultfs.NewDisk(true, "/d")
	dir, err := disk.OpenDir("/d")
	require.NoError(t, err)
	_, err = dir.Create("x", 0o644)
	require.NoError(t, err)
	before, err := dir.Stat("x")
	require.NoError(t, err)
	disk.Age(time.Hour)
	after, err := dir.Stat("x")
	require.NoError(t, err)
	require.Equal(t, int64(time.Hour), before.ModTime-after.ModTime)
}
