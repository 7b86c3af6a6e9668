package odb_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
)

func TestErrorsSayWhatIsWrong(t *testing.T) {
	tests := []struct {
		cause syscall.Errno
		want  error
	}{
		{syscall.ENOSPC, odb.ErrNoSpace},
		{syscall.EDQUOT, odb.ErrNoSpace},
		{syscall.EFBIG, odb.ErrNoSpace},
		{syscall.EROFS, odb.ErrReadOnly},
		{syscall.EACCES, odb.ErrReadOnly},
		{syscall.EPERM, odb.ErrReadOnly},
	}
	for _, tt := range tests {
		for _, op := range []faultfs.Op{faultfs.Create, faultfs.Write, faultfs.Rename} {
			tr, err := start(true, scenarios[0])
			require.NoError(t, err)
			probe := faultfs.New(tr.disk, faultfs.Plan{})
			require.NoError(t, tr.run(probe, odb.Options{Format: testFormat}))
			for k, found := range probe.Trace() {
				if found != op {
					continue
				}
				tr, err := start(true, scenarios[0])
				require.NoError(t, err)
				err = tr.run(faultfs.New(tr.disk, faultfs.Plan{At: k + 1, Err: tt.cause}), odb.Options{Format: testFormat})
				require.ErrorIs(t, err, tt.want, "%v at %s %d", tt.cause, op, k+1)
				require.ErrorIs(t, err, tt.cause)
				require.NotErrorIs(t, err, odb.ErrPoisoned, "%v at %s: no flush has failed", tt.cause, op)
			}
		}
	}
}

// A write that failed for want of space can be done again once there is some.
func TestSpaceMayComeBack(t *testing.T) {
	tr, err := start(true, scenarios[0])
	require.NoError(t, err)
	probe := faultfs.New(tr.disk, faultfs.Plan{})
	require.NoError(t, tr.run(probe, odb.Options{Format: testFormat}))
	first := slices.Index(probe.Trace(), faultfs.Write) + 1
	tr, err = start(true, scenarios[0])
	require.NoError(t, err)
	fs := faultfs.New(tr.disk, faultfs.Plan{At: first, Err: syscall.ENOSPC})
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: fs})
	require.NoError(t, err)
	defer s.Close()
	require.ErrorIs(t, s.Write(bg, tr.batch), odb.ErrNoSpace)
	require.NoError(t, s.Write(bg, tr.batch))
	tr.acked = true
	require.NoError(t, tr.check(tr.disk))
}

// A failed flush counts, even if a directory that git has removed at the same time is reason enough to try
// again.
func TestAFailedFlushIsNotTriedAgain(t *testing.T) {
	repo := newRepo(t)
	head := tip(create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 1))
	fs := &failsOnce{FS: odb.OS()}
	s := open(t, repo, odb.Options{Format: testFormat, FS: fs, Path: odb.PathStepwise})
	require.NoError(t, s.Write(bg, appendBatch(ref, head, chain(head, 1, "before"))))
	head = tip(chain(head, 1, "before"))
	fs.fan.Store(true)
	fs.sync.Store(true)
	require.ErrorIs(t, s.Write(bg, appendBatch(ref, head, chain(head, 1, "next"))), odb.ErrPoisoned)
	require.False(t, fs.fan.Load() || fs.sync.Load(), "both have happened")
	got, err := open(t, repo, odb.Options{Format: testFormat}).ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, head, got)
}

// failsOnce misses a fan-out directory once, and fails to flush objects/ once.
type failsOnce struct {
	odb.FS
	fan, sync atomic.Bool
}

func (f *failsOnce) OpenDir(path string) (odb.Dir, error) {
	dir, err := f.FS.OpenDir(path)
	if filepath.Base(path) == "objects" {
		return failsOnceDir{dir, f}, err
	}
	return dir, err
}

type failsOnceDir struct {
	odb.Dir
	of *failsOnce
}

func (d failsOnceDir) OpenDir(name string) (odb.Dir, error) {
	if d.of.fan.Swap(false) {
		return nil, fs.ErrNotExist
	}
	return d.Dir.OpenDir(name)
}

func (d failsOnceDir) Sync() error {
	if d.of.sync.Swap(false) {
		return syscall.EIO
	}
	return d.Dir.Sync()
}

// Closing the store waits for the ref's old file, and an append does not.
func TestTheOldFileIsFreedLater(t *testing.T) {
	repo := newRepo(t)
	head := tip(create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 1))
	synctest.Test(t, func(t *testing.T) {
		fs := &slowToFree{FS: odb.OS()}
		s := open(t, repo, odb.Options{Format: testFormat, FS: fs, Path: odb.PathStepwise})
		begun := time.Now()
		require.NoError(t, s.Write(bg, appendBatch(ref, head, chain(head, 1, "next"))))
		require.Zero(t, time.Since(begun))
		require.NoError(t, s.Close())
		require.EqualValues(t, 1, fs.freed.Load())
	})
}

// slowToFree takes its time to close the files that were opened as the ref.
type slowToFree struct {
	odb.FS
	freed atomic.Int32
}

func (f *slowToFree) OpenDir(path string) (odb.Dir, error) {
	dir, err := f.FS.OpenDir(path)
	return slowToFreeDir{dir, f}, err
}

type slowToFreeDir struct {
	odb.Dir
	of *slowToFree
}

func (d slowToFreeDir) OpenDir(name string) (odb.Dir, error) {
	dir, err := d.Dir.OpenDir(name)
	return slowToFreeDir{dir, d.of}, err
}

func (d slowToFreeDir) Open(name string) (odb.File, error) {
	file, err := d.Dir.Open(name)
	if name == filepath.Base(ref) && err == nil {
		file = slowToFreeFile{file, d.of}
	}
	return file, err
}

type slowToFreeFile struct {
	odb.File
	of *slowToFree
}

func (f slowToFreeFile) Close() error {
	// The clock of the test's bubble: this takes no real time.
	time.Sleep(time.Second)
	defer f.of.freed.Add(1)
	return f.File.Close()
}

func objectFile(t *testing.T, dir string, oid odb.OID) string {
	t.Helper()
	return filepath.Join(dir, ".git/objects", string(oid[:2]), string(oid[2:]))
}

// A Write closes all that it opens, after success and after failure.
func TestHandlesAreGivenBack(t *testing.T) {
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			// Only Linux lists a process's open files there.
			t.Skip("cannot count open files: ", err)
		}
		return len(names)
	}
	repo := newRepo(t)
	before := count()
	s, err := odb.Open(filepath.Join(repo, ".git"), odb.Options{Format: testFormat, Durability: odb.Off})
	require.NoError(t, err)
	head := tip(create(t, s, ref, 1))
	for i := range 20 {
		objects := chain(head, 2, fmt.Sprint(i))
		require.NoError(t, s.Write(bg, appendBatch(ref, head, objects)))
		require.Error(t, s.Write(bg, appendBatch(ref, head, chain(head, 2, "loser"))))
		_, err := s.ListRefs("refs/")
		require.NoError(t, err)
		git(t, repo, "pack-refs", "--all")
		head = tip(objects)
	}
	require.Eventually(t, func() bool { return count() <= before+6 }, 10*time.Second, time.Millisecond)
	require.NoError(t, s.Close())
	require.Equal(t, before, count())
}

// The process may end between any two operations: git finds nothing wrong, and
// the next process goes on.
func TestKilledAtEveryOperationOnARealDisk(t *testing.T) {
	eachPath(t, func(t *testing.T, path odb.Path) {
		for k, more := 1, true; more; k++ {
			repo := newRepo(t)
			head := tip(create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 1))
			next := chain(head, 2, "next")
			fs := faultfs.New(odb.OS(), faultfs.Plan{At: k, Crash: true})
			var err error
			if s, openErr := odb.Open(filepath.Join(repo, ".git"), odb.Options{Format: testFormat, FS: fs, Path: path}); openErr == nil {
				err = s.Write(bg, appendBatch(ref, head, next))
				more = err != nil
				s.Close()
			}
			requireSound(t, repo)
			after := open(t, repo, recovery(odb.OS()))
			got, err2 := after.ReadRef(ref)
			require.NoError(t, err2)
			require.Contains(t, []odb.OID{head, tip(next)}, got)
			require.True(t, more || got == tip(next), "acknowledged and lost at %d", k)
			require.NoError(t, after.Write(bg, appendBatch(ref, got, chain(got, 1, "more"))))
		}
	})
}

func TestPortableFileSystem(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat, FS: odb.RootFS()})
	require.Equal(t, odb.PathStepwise, s.Path())
	objects := create(t, s, ref, 3)
	more := chain(tip(objects), 2, "more")
	require.NoError(t, s.Write(bg, appendBatch(ref, tip(objects), more)))
	git(t, repo, "pack-refs", "--all")
	last := chain(tip(more), 1, "last")
	require.NoError(t, s.Write(bg, appendBatch(ref, tip(more), last)))
	requireReads(t, s, slices.Concat(objects, more, last))
	refs, err := s.ListRefs("refs/jp/")
	require.NoError(t, err)
	require.Equal(t, []odb.Ref{{Name: ref, OID: tip(last)}}, refs)
	require.NoError(t, os.Symlink("jp-c1", filepath.Join(repo, ".git/refs/jp/conversations/link")))
	_, err = s.ReadRef("refs/jp/conversations/link")
	require.ErrorIs(t, err, odb.ErrRefSymbolic)
	require.ErrorIs(t, s.Write(bg, move(ref+"/below", "", tip(last))), odb.ErrRefConflict)
	requireSound(t, repo)
}

// Objects that git prunes from under a ref that has just moved come back.
func TestPrunedObjectsAreRestored(t *testing.T) {
	repo := newRepo(t)
	s, err := odb.Open(filepath.Join(repo, ".git"), withGit(repo))
	require.NoError(t, err)
	objects := create(t, s, ref, 3)
	for _, o := range objects[1:] {
		require.NoError(t, os.Remove(objectFile(t, repo, o.OID)))
	}
	require.NoError(t, s.Close())
	requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
	requireSound(t, repo)
}

// Objects that git has packed before a ref named them may vanish with the pack, also with one that this
// process has open.
func TestObjectsOfARemovedPackAreRestored(t *testing.T) {
	repo := newRepo(t)
	s, err := odb.Open(filepath.Join(repo, ".git"), withGit(repo))
	require.NoError(t, err)
	objects := create(t, s, ref, 3)
	git(t, repo, "repack", "-q", "-d", "--geometric=2")
	restored, err := s.Restore(bg)
	require.NoError(t, err)
	require.False(t, restored, "all are packed")
	packs, err := filepath.Glob(filepath.Join(repo, ".git/objects/pack/pack-*"))
	require.NoError(t, err)
	require.NotEmpty(t, packs)
	for _, p := range packs {
		require.NoError(t, os.Remove(p))
	}
	require.NoError(t, s.Close())
	requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects[1:])
}

// Objects that git has packed with an index of the first version are not lost. While they are loose too,
// they do not count as packed.
func TestObjectsBehindAnOldIndexAreNotLost(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, withGit(repo))
	objects := create(t, s, ref, 3)
	git(t, repo, "config", "pack.indexVersion", "1")
	git(t, repo, "repack", "-q", "-a", "-d")
	restored, err := s.Restore(bg)
	require.NoError(t, err)
	require.False(t, restored)
	more := chain(tip(objects), 1, "more")
	require.NoError(t, s.Write(bg, appendBatch(ref, tip(objects), more)))
	require.False(t, s.Packed(tip(more)))
}

// git prune may take a temporary file, or the directory that it goes to.
func TestPruneInTheMiddleOfAWrite(t *testing.T) {
	for _, journal := range []bool{true, false} {
		tr, err := start(journal, scenarios[0])
		require.NoError(t, err)
		probe := faultfs.New(tr.disk, faultfs.Plan{})
		require.NoError(t, tr.run(probe, odb.Options{Format: testFormat}))
		rename := slices.Index(probe.Trace(), faultfs.Rename) + 1

		tr, err = start(journal, scenarios[0])
		require.NoError(t, err)
		gone := faultfs.Plan{At: rename, Err: syscall.ENOENT}
		require.NoError(t, tr.run(faultfs.New(tr.disk, gone), odb.Options{Format: testFormat}))
		require.NoError(t, tr.check(tr.disk.Crash(rand.New(rand.NewPCG(1, 2)))))

		tr, err = start(journal, scenarios[0])
		require.NoError(t, err)
		gone.ForGood = true
		require.ErrorIs(t, tr.run(faultfs.New(tr.disk, gone), odb.Options{Format: testFormat}), syscall.ENOENT)
		require.NoError(t, tr.check(tr.disk))
	}
}

func TestNonsenseIsRefusedBeforeAnyFile(t *testing.T) {
	disk := faultfs.NewDisk(true, "/repo/objects", "/repo/refs")
	fs := faultfs.New(disk, faultfs.Plan{})
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: fs})
	require.NoError(t, err)
	defer s.Close()
	before := fs.Count()
	oid := blob("x").OID
	tests := []struct {
		name  string
		batch odb.Batch
		want  error
	}{
		{"object without a name", odb.Batch{Objects: []odb.Object{{Kind: "blob"}}}, odb.ErrOID},
		{"no new value", move(ref, oid, ""), odb.ErrOID},
		{"short new value", move(ref, "", oid[:7]), odb.ErrOID},
		{"old value that is none", move(ref, "HEAD", oid), odb.ErrOID},
		{"ref outside refs", move("HEAD", "", oid), odb.ErrRefName},
		{"ref of a lock", move(ref+".lock", "", oid), odb.ErrRefName},
		{"ref twice", odb.Batch{Updates: []odb.RefUpdate{{Ref: ref, New: oid}, {Ref: ref, New: oid}}}, odb.ErrRefConflict},
	}
	for _, tt := range tests {
		require.ErrorIs(t, s.Write(bg, tt.batch), tt.want, tt.name)
	}
	_, err = s.ReadRef("refs/jp/a..b")
	require.ErrorIs(t, err, odb.ErrRefName)
	_, _, err = s.ReadObject("HEAD")
	require.ErrorIs(t, err, odb.ErrOID)
	_, err = s.Has("")
	require.ErrorIs(t, err, odb.ErrOID)
	require.Equal(t, before, fs.Count())
}

// A temporary file that git prune takes is written once more, as durably.
func TestAnObjectThatIsStagedAgainIsFlushed(t *testing.T) {
	for _, journal := range []bool{true, false} {
		tr, err := start(journal, scenarios[0])
		require.NoError(t, err)
		pruned, settled, renamed := "", map[string]bool{}, map[string]bool{}
		disk := &asked{FS: tr.disk, before: func(op, name string) error {
			switch {
			case op == "settle":
				settled[name] = true
			case op == "rename" && isTemporary(name):
				if pruned == "" {
					pruned = name
				}
				if name == pruned {
					return fs.ErrNotExist
				}
				require.True(t, settled[name], "journal %v", journal)
				renamed[name] = true
			}
			return nil
		}}
		require.NoError(t, tr.run(disk, odb.Options{Format: testFormat}))
		require.Len(t, renamed, len(tr.batch.Objects))
		for seed := range uint64(10) {
			require.NoError(t, tr.check(tr.disk.Crash(rand.New(rand.NewPCG(2, seed)))))
		}
	}
}

// Close reports objects that it could not restore.
func TestPrunedObjectsThatCannotBeRestored(t *testing.T) {
	repo := newRepo(t)
	full := false
	s := open(t, repo, odb.Options{Format: testFormat, Path: odb.PathStepwise, FS: &asked{FS: odb.OS(), before: func(op, _ string) error {
		if full && op == "create" {
			return syscall.ENOSPC
		}
		return nil
	}}})
	objects := create(t, s, ref, 1)
	require.NoError(t, os.Remove(objectFile(t, repo, tip(objects))))
	full = true
	_, err := s.Restore(bg)
	require.ErrorIs(t, err, odb.ErrNoSpace)
	full = false
	restored, err := s.Restore(bg)
	require.NoError(t, err)
	require.True(t, restored)
	requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
}

// Of a batch that is written in parts git prune may take the first while the last is
// under way: they are written again before the ref moves.
func TestPruneBetweenThePartsOfAWrite(t *testing.T) {
	repo := newRepo(t)
	var objects []odb.Object
	for i := range 600 {
		objects = append(objects, blob(fmt.Sprint(i)))
	}
	objects = append(objects, emptyTree, commit("", "one"))
	pruned := false
	s := open(t, repo, odb.Options{Format: testFormat, Durability: odb.Off, FS: &asked{FS: odb.OS(), before: func(op, name string) error {
		if op == "create" && name == filepath.Base(ref)+".lock" {
			pruned = true
			return os.Remove(objectFile(t, repo, objects[0].OID))
		}
		return nil
	}}})
	require.NoError(t, s.Write(bg, appendBatch(ref, "", objects)))
	require.True(t, pruned)
	requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
}
