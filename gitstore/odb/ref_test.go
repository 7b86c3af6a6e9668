package odb_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/gitstore/odb"
)

// putRef writes a ref's file as it is given.
func putRef(t testing.TB, repo, name, content string) {
	t.Helper()
	file := filepath.Join(repo, ".git", name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
}

// move is a batch without objects.
func move(name string, from, to odb.OID) odb.Batch {
	return odb.Batch{Updates: []odb.RefUpdate{{Ref: name, Old: from, New: to}}}
}

func TestCompareAndSwap(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	objects := create(t, s, ref, 2)
	first, second := objects[1].OID, objects[2].OID
	for _, packed := range []bool{false, true} {
		if packed {
			git(t, repo, "pack-refs", "--all")
			require.NoFileExists(t, filepath.Join(repo, ".git", ref))
		}
		var moved *odb.RefError
		err := s.Write(bg, move(ref, first, second))
		require.ErrorIs(t, err, odb.ErrRefMoved)
		require.ErrorAs(t, err, &moved)
		require.Equal(t, odb.RefError{Ref: ref, Want: first, Found: second}, *moved)

		err = s.Write(bg, move(ref, "", first))
		require.ErrorIs(t, err, odb.ErrRefExists)
		require.NotErrorIs(t, err, odb.ErrRefMoved)

		err = s.Write(bg, move("refs/jp/conversations/other", first, second))
		require.ErrorIs(t, err, odb.ErrRefMoved)
		require.NoFileExists(t, filepath.Join(repo, ".git", ref+".lock"))
	}
	require.NoError(t, s.Write(bg, move(ref, second, first)))
	require.Equal(t, string(first), git(t, repo, "rev-parse", ref))
	_, err := s.ReadRef("refs/jp/conversations/other")
	require.ErrorIs(t, err, odb.ErrRefNotFound)
}

func TestASecondRefThatMovedStopsTheFirst(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	objects := create(t, s, ref, 2)
	b := move(payloadRef, "", objects[1].OID)
	b.Updates = append(b.Updates, move(ref, objects[1].OID, objects[1].OID).Updates...)
	require.ErrorIs(t, s.Write(bg, b), odb.ErrRefMoved)
	_, err := s.ReadRef(payloadRef)
	require.ErrorIs(t, err, odb.ErrRefNotFound)
	require.NoError(t, s.Write(bg, move(payloadRef, "", objects[1].OID)), "a lock was left")
}

// everyFS are the ways of going down to a ref: in one step, from one directory to the next, and with only
// Go's own library.
func everyFS(t *testing.T, test func(*testing.T, odb.FS)) {
	for name, disk := range map[string]odb.FS{"paths": odb.OS(), "directories": stepByStep{odb.OS()}, "root": odb.RootFS()} {
		t.Run(name, func(t *testing.T) { test(t, disk) })
	}
}

// stepByStep is a system without a call for a whole path.
type stepByStep struct{ odb.FS }

func (s stepByStep) OpenDir(path string) (odb.Dir, error) {
	dir, err := s.FS.OpenDir(path)
	return unsupportedPaths{dir}, err
}

type unsupportedPaths struct{ odb.Dir }

func (unsupportedPaths) OpenDirPath(string) (odb.Dir, error) { return nil, errors.ErrUnsupported }
func (unsupportedPaths) OpenPath(string) (odb.File, error)   { return nil, errors.ErrUnsupported }

func TestRefsThatAreRefused(t *testing.T) { everyFS(t, refuseRefs) }

func refuseRefs(t *testing.T, disk odb.FS) {
	repo := newRepo(t)
	opts := withGit(repo)
	opts.FS, opts.Path = disk, odb.PathStepwise
	s := open(t, repo, opts)
	head := tip(create(t, s, ref, 1))
	putRef(t, repo, "refs/jp/conversations/empty", "")
	putRef(t, repo, "refs/jp/conversations/zeros", strings.Repeat("\x00", testFormat.Digits()+1))
	putRef(t, repo, "refs/jp/conversations/null", strings.Repeat("0", testFormat.Digits())+"\n")
	putRef(t, repo, "refs/jp/conversations/half", string(head[:20]))
	putRef(t, repo, "refs/jp/conversations/symbolic", "ref: "+ref+"\n")
	require.NoError(t, os.Symlink("jp-c1", filepath.Join(repo, ".git/refs/jp/conversations/link")))
	require.NoError(t, os.Symlink("conversations", filepath.Join(repo, ".git/refs/jp/linked")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(repo, ".git/refs/jp/conversations/dangling")))
	tests := []struct {
		ref  string
		want error
	}{
		{"refs/jp/conversations/empty", odb.ErrRefBroken},
		{"refs/jp/conversations/zeros", odb.ErrRefBroken},
		{"refs/jp/conversations/null", odb.ErrRefBroken},
		{"refs/jp/conversations/half", odb.ErrRefBroken},
		{"refs/jp/conversations/symbolic", odb.ErrRefSymbolic},
		{"refs/jp/conversations/link", odb.ErrRefSymbolic},
		{"refs/jp/conversations/dangling", odb.ErrRefSymbolic},
		{"refs/jp/linked/jp-c1", odb.ErrRefSymbolic},
		{"refs/jp/../../config", odb.ErrRefName},
		{"HEAD", odb.ErrRefName},
		{"refs/worktree/x", odb.ErrRefName},
	}
	for _, tt := range tests {
		_, err := s.ReadRef(tt.ref)
		require.ErrorIs(t, err, tt.want, tt.ref)
		require.ErrorContains(t, err, tt.ref)
		for _, old := range []odb.OID{"", head} {
			require.ErrorIs(t, s.Write(bg, move(tt.ref, old, head)), tt.want, tt.ref)
		}
	}
	refs, err := s.ListRefs("refs/jp/conversations/")
	require.Equal(t, []odb.Ref{{Name: ref, OID: head}}, refs)
	require.ErrorIs(t, err, odb.ErrRefBroken)
	require.ErrorIs(t, err, odb.ErrRefSymbolic)
	require.ErrorContains(t, err, "refs/jp/conversations/empty")
}

func TestDirectoryFileConflicts(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	head := tip(create(t, s, ref, 1))
	for _, packed := range []bool{false, true} {
		if packed {
			git(t, repo, "pack-refs", "--all")
		}
		for _, name := range []string{ref + "/below", "refs/jp/conversations", "refs/jp"} {
			require.ErrorIs(t, s.Write(bg, move(name, "", head)), odb.ErrRefConflict, "%s, packed %v", name, packed)
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Join(repo, ".git/refs/jp/empty"), 0o755))
	require.NoError(t, s.Write(bg, move("refs/jp/empty", "", head)), "an empty directory is nobody's")
	git(t, repo, "pack-refs", "--all")
	next := tip(create(t, s, "refs/jp/conversations/other", 2))
	require.NoError(t, os.MkdirAll(filepath.Join(repo, ".git/refs/jp/empty"), 0o755))
	require.NoError(t, s.Write(bg, move("refs/jp/empty", head, next)), "nor is it in the place of a packed ref")
	got, err := s.ReadRef("refs/jp/empty")
	require.NoError(t, err)
	require.Equal(t, next, got)
}

// A file that names nothing hides the packed value, and is reported once.
func TestABrokenRefIsListedOnce(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	create(t, s, ref, 1)
	const other = "refs/jp/conversations/other"
	head := tip(create(t, s, other, 1))
	git(t, repo, "pack-refs", "--all")
	for _, content := range []string{"", strings.Repeat("0", testFormat.Digits()) + "\n", "ref: refs/heads/main\n"} {
		putRef(t, repo, ref, content)
		refs, err := s.ListRefs("refs/jp/")
		require.Equal(t, []odb.Ref{{Name: other, OID: head}}, refs, content)
		var broken *odb.UnreadableRef
		require.ErrorAs(t, err, &broken)
		require.Equal(t, ref, broken.Ref)
	}
}

// git-new-workdir makes refs/ a link.
func TestLinkedRefsDirectory(t *testing.T) {
	everyFS(t, func(t *testing.T, disk odb.FS) {
		repo := newRepo(t)
		refs := filepath.Join(repo, ".git/refs")
		require.NoError(t, os.Rename(refs, filepath.Join(repo, ".git/elsewhere")))
		require.NoError(t, os.Symlink("elsewhere", refs))
		s := open(t, repo, odb.Options{Format: testFormat, FS: disk, Path: odb.PathStepwise})
		head := tip(create(t, s, ref, 1))
		got, err := s.ReadRef(ref)
		require.NoError(t, err)
		require.Equal(t, head, got)
		_, err = s.ReadRef(ref + "x")
		require.ErrorIs(t, err, odb.ErrRefNotFound)
		listed, err := s.ListRefs("refs/jp/")
		require.NoError(t, err)
		require.Equal(t, []odb.Ref{{Name: ref, OID: head}}, listed)
		require.NoError(t, s.Write(bg, appendBatch(ref, head, chain(head, 1, "next"))))
	})
}

func TestListRefs(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	objects := create(t, s, ref, 2)
	first, second := objects[1].OID, objects[2].OID
	for _, name := range []string{"refs/jp/archive/b", "refs/jp/conversations/a", "refs/jp/conversations/z"} {
		require.NoError(t, s.Write(bg, move(name, "", first)))
	}
	git(t, repo, "pack-refs", "--all")
	require.NoError(t, s.Write(bg, move("refs/jp/conversations/a", first, second)))
	require.NoError(t, s.Write(bg, move("refs/jp/conversations/m", "", first)))
	putRef(t, repo, "refs/jp/conversations/x.lock", "")
	tests := []struct {
		prefix string
		want   []odb.Ref
	}{
		{"refs/jp/conversations/", []odb.Ref{
			{Name: "refs/jp/conversations/a", OID: second}, {Name: ref, OID: second},
			{Name: "refs/jp/conversations/m", OID: first}, {Name: "refs/jp/conversations/z", OID: first},
		}},
		{"refs/jp/conversations/a", []odb.Ref{{Name: "refs/jp/conversations/a", OID: second}}},
		{"refs/jp/arch", []odb.Ref{{Name: "refs/jp/archive/b", OID: first}}},
		{"refs/jp/none/", []odb.Ref{}},
	}
	for _, tt := range tests {
		got, err := s.ListRefs(tt.prefix)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.prefix)
		names, err := s.RefNames(tt.prefix)
		require.NoError(t, err)
		require.Len(t, names, len(tt.want), tt.prefix)
		for i, r := range tt.want {
			require.Equal(t, r.Name, names[i], tt.prefix)
		}
	}
	all, err := s.ListRefs("refs/")
	require.NoError(t, err)
	require.Len(t, all, 5)
	_, err = s.ListRefs("")
	require.ErrorIs(t, err, odb.ErrRefName)
}

func TestLocks(t *testing.T) {
	repo := newRepo(t)
	head := tip(create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 1))
	tests := []struct {
		name  string
		may   func(string) bool
		age   time.Duration
		taken bool
	}{
		{"nobody may", nil, time.Hour, false},
		{"not the holder", func(string) bool { return false }, time.Hour, false},
		{"young", func(string) bool { return true }, time.Second, false},
		{"stale", func(name string) bool { return name == ref }, 11 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			putRef(t, repo, ref+".lock", "")
			var log strings.Builder
			s := open(t, repo, odb.Options{
				Format:       testFormat,
				MayBreakLock: tt.may, LockTimeout: -1,
				Now: func() time.Time { return time.Now().Add(tt.age) },
				Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			err := s.Write(bg, move(ref, head, head))
			if !tt.taken {
				require.ErrorIs(t, err, odb.ErrRefLocked)
				require.FileExists(t, filepath.Join(repo, ".git", ref+".lock"))
				require.Empty(t, log.String())
				return
			}
			require.NoError(t, err)
			require.NoFileExists(t, filepath.Join(repo, ".git", ref+".lock"))
			require.Contains(t, log.String(), ref)
		})
	}
}

// A lock that a kill left is waited for until it is old enough, which is said
// once.
func TestWaitingForALockIsSaid(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	head := tip(create(t, s, ref, 1))
	putRef(t, repo, ref+".lock", "")
	var log strings.Builder
	now := time.Now()
	waiting := open(t, repo, odb.Options{
		Format:       testFormat,
		MayBreakLock: func(string) bool { return true }, LockTimeout: time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Now: func() time.Time { now = now.Add(700 * time.Millisecond); return now },
	})
	require.NoError(t, waiting.Write(bg, move(ref, head, head)))
	require.Equal(t, 1, strings.Count(log.String(), "waiting for a lock"))
	require.Contains(t, log.String(), "took over a lock that was left by a kill")
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat, LockTimeout: time.Hour})
	head := tip(create(t, s, ref, 1))
	putRef(t, repo, ref+".lock", "")
	ctx, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Write(ctx, move(ref, head, head)), context.DeadlineExceeded)
}

func TestTransaction(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, withGit(repo))
	head := tip(create(t, s, ref, 1))
	const archived = "refs/jp/archive/jp-c1"
	archive := []odb.RefUpdate{{Ref: archived, New: head}, {Ref: ref, Old: head}}
	for _, packed := range []bool{false, true} {
		if packed {
			git(t, repo, "pack-refs", "--all")
		}
		require.NoError(t, s.Transaction(bg, archive))
		_, err := s.ReadRef(ref)
		require.ErrorIs(t, err, odb.ErrRefNotFound)
		got, err := s.ReadRef(archived)
		require.NoError(t, err)
		require.Equal(t, head, got)

		require.ErrorIs(t, s.Transaction(bg, archive), odb.ErrRefExists)
		require.NoError(t, s.Transaction(bg, []odb.RefUpdate{{Ref: ref, New: head}, {Ref: archived, Old: head}}))
	}
	require.NoDirExists(t, filepath.Join(repo, ".git/logs/refs/jp"))

	other := tip(create(t, s, "refs/jp/conversations/jp-c2", 2))
	err := s.Transaction(bg, []odb.RefUpdate{{Ref: archived, New: head}, {Ref: ref, Old: other}})
	require.ErrorIs(t, err, odb.ErrRefMoved)
	_, err = s.ReadRef(archived)
	require.ErrorIs(t, err, odb.ErrRefNotFound, "half of a transaction")

	putRef(t, repo, ref+".lock", "")
	require.ErrorIs(t, s.Transaction(bg, archive), odb.ErrRefLocked)
	require.ErrorIs(t, open(t, repo, odb.Options{Format: testFormat}).Transaction(bg, archive), odb.ErrNoGit)
}

// A git that was killed between two refs has moved the first; and one that was
// killed within them leaves a lock.
func TestTransactionGoesOn(t *testing.T) {
	repo := newRepo(t)
	opts := withGit(repo)
	opts.MayBreakLock = func(string) bool { return true }
	s := open(t, repo, opts)
	head := tip(create(t, s, ref, 1))
	const archived = "refs/jp/archive/jp-c1"
	putRef(t, repo, archived, string(head)+"\n")
	require.NoError(t, s.Transaction(bg, []odb.RefUpdate{{Ref: archived, New: head}, {Ref: ref, Old: head}}))
	_, err := s.ReadRef(ref)
	require.ErrorIs(t, err, odb.ErrRefNotFound)

	packed := filepath.Join(repo, ".git/packed-refs.lock")
	require.NoError(t, os.WriteFile(packed, nil, 0o666))
	require.ErrorIs(t, s.Transaction(bg, []odb.RefUpdate{{Ref: archived, Old: head}}), odb.ErrRefsLocked)
	require.NoError(t, os.Remove(packed))

	lock := filepath.Join(repo, ".git", archived+".lock")
	back := []odb.RefUpdate{{Ref: ref, New: head}, {Ref: archived, Old: head}}
	putRef(t, repo, archived+".lock", "")
	require.ErrorIs(t, s.Transaction(bg, back), odb.ErrRefLocked, "somebody may hold it")
	long := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(lock, long, long))
	require.NoError(t, s.Transaction(bg, back))
	require.NoFileExists(t, lock)
	_, err = s.ReadRef(archived)
	require.ErrorIs(t, err, odb.ErrRefNotFound)
}

// git accepts each name that we accept. The doc of CheckRefName has the exceptions of the reverse.
func TestRefNamesAsGitSees(t *testing.T) {
	repo := newRepo(t)
	part := rapid.StringMatching(`[a-c.@{}~^:?*\[\\ \x01\x7fé/-]{0,5}(\.lock|\.|/)?`)
	var names []string
	rapid.Check(t, func(rt *rapid.T) {
		names = append(names, "refs/jp/"+strings.Join(rapid.SliceOfN(part, 1, 3).Draw(rt, "parts"), "/"))
	})
	for _, name := range append(names[:min(60, len(names))], "refs/jp/a", "refs/jp/@", "refs/jp/a@{b", "refs/jp/-a", "refs/jp/a..b") {
		_, err := tryGit(repo, "", "check-ref-format", name)
		require.Equal(t, err == nil, odb.CheckRefName(name) == nil, fmt.Sprintf("%q", name))
	}
}

func TestTransactionRefusesNonsense(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, withGit(repo))
	head := tip(create(t, s, ref, 1))
	for _, tt := range []struct {
		update odb.RefUpdate
		want   error
	}{
		{odb.RefUpdate{Ref: ref}, odb.ErrOID},
		{odb.RefUpdate{Ref: ref, Old: "x", New: head}, odb.ErrOID},
		{odb.RefUpdate{Ref: "refs/jp/a b", New: head}, odb.ErrRefName},
		{odb.RefUpdate{Ref: "refs/jp/a\nb", New: head}, odb.ErrRefName},
	} {
		require.ErrorIs(t, s.Transaction(bg, []odb.RefUpdate{tt.update}), tt.want)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	require.ErrorIs(t, s.Transaction(ctx, []odb.RefUpdate{{Ref: ref, Old: head}}), context.Canceled)
	got, err := s.ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, head, got)
}

func TestPackedRefsThatAreBroken(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	head := tip(create(t, s, ref, 1))
	const packed = "refs/jp/conversations/packed"
	for _, content := range []string{"garbage\n", string(head[:39]) + " " + packed + "\n", string(head) + " " + packed} {
		putRef(t, repo, "packed-refs", content)
		_, err := s.ReadRef(packed)
		require.ErrorIs(t, err, odb.ErrRefBroken)
		require.ErrorContains(t, err, "packed-refs")
		got, err := s.ReadRef(ref)
		require.NoError(t, err, "a loose ref needs no packed ones")
		require.Equal(t, head, got)
	}
	// Unsorted, with a peeled tag and without a header, as old git wrote it.
	putRef(t, repo, "packed-refs", fmt.Sprintf("%s refs/tags/z\n^%s\n%s %s\n", head, head, head, packed))
	got, err := s.ReadRef(packed)
	require.NoError(t, err)
	require.Equal(t, head, got)
}

// The check finds lines that hide refs from git, or from a search that trusts the order.
func TestCheckPackedRefs(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	require.NoError(t, s.CheckPackedRefs(), "none")
	head := string(tip(create(t, s, ref, 1)))
	git(t, repo, "pack-refs", "--all")
	require.NoError(t, s.CheckPackedRefs(), "as git makes it")
	line := func(name string) string { return head + " " + name + "\n" }
	const header = "# pack-refs with: peeled fully-peeled sorted \n"
	const a, b = "refs/jp/conversations/a", "refs/jp/conversations/b"
	for content, want := range map[string]string{
		header + line(a) + line(b):                                 "",
		header + line("refs/heads/odd\r") + line(a):                "",
		line(b) + line(a):                                          "",
		header + line(a) + "^" + head + "\n" + line(b):             "",
		header + line(a) + line(b+"\r"):                            "a character that git forbids",
		header + line(b) + line(a):                                 "not where it should be",
		header + line(a) + "\n":                                    `the line "\n"`,
		header + line(a) + head:                                    "the line",
		header + line(a) + strings.Repeat("garbage ", 1000) + "\n": `garbage …"`,
		strings.ReplaceAll(header+line(a)+line(b), "\n", "\r\n"):   "a character that git forbids",
	} {
		putRef(t, repo, "packed-refs", content)
		err := s.CheckPackedRefs()
		if want == "" {
			require.NoError(t, err, content)
			continue
		}
		require.ErrorIs(t, err, odb.ErrRefBroken, content)
		require.ErrorContains(t, err, want)
		require.Less(t, len(err.Error()), 400)
	}
}

// flushNotes notes which directories are flushed.
type flushNotes struct {
	odb.FS
	flushed *sync.Map // by path; directories are flushed side by side
}

func (n flushNotes) OpenDir(path string) (odb.Dir, error) {
	dir, err := n.FS.OpenDir(path)
	return notedDir{dir, path, n}, err
}

type notedDir struct {
	odb.Dir
	path string
	flushNotes
}

func (d notedDir) OpenDir(name string) (odb.Dir, error) {
	dir, err := d.Dir.OpenDir(name)
	return notedDir{dir, d.path + "/" + name, d.flushNotes}, err
}

func (d notedDir) Sync() error {
	d.flushed.Store(d.path, true)
	return d.Dir.Sync()
}

// git flushes the files of refs, but not their directories.
func TestTransactionFlushesDirectories(t *testing.T) {
	repo := newRepo(t)
	notes := flushNotes{odb.OS(), new(sync.Map)}
	opts := withGit(repo)
	opts.FS, opts.Path = notes, odb.PathStepwise
	s := open(t, repo, opts)
	head := tip(create(t, s, ref, 1))
	notes.flushed.Clear()
	require.NoError(t, s.Transaction(bg, []odb.RefUpdate{{Ref: "refs/jp/archive/jp-c1", New: head}, {Ref: ref, Old: head}}))
	for _, dir := range []string{"", "/refs", "/refs/jp", "/refs/jp/archive", "/refs/jp/conversations"} {
		path := filepath.Join(repo, ".git") + dir
		if _, err := os.Stat(path); err == nil {
			_, flushed := notes.flushed.Load(path)
			require.True(t, flushed, "%s was not flushed", path)
		}
	}
}

// A lock that somebody else took over while its holder was asked for is theirs.
func TestALockThatIsNewIsNotBroken(t *testing.T) {
	repo := newRepo(t)
	head := tip(create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 1))
	lock := filepath.Join(repo, ".git", ref+".lock")
	putRef(t, repo, ref+".lock", "")
	s := open(t, repo, odb.Options{
		Format:      testFormat,
		LockTimeout: -1,
		Now:         func() time.Time { return time.Now().Add(time.Hour) },
		MayBreakLock: func(string) bool {
			putRef(t, repo, ref+".new", "theirs")
			require.NoError(t, os.Rename(filepath.Join(repo, ".git", ref+".new"), lock))
			return true
		},
	})
	require.ErrorIs(t, s.Write(bg, move(ref, head, head)), odb.ErrRefLocked)
	text, err := os.ReadFile(lock)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
}

// A packed-refs that was replaced by one of the same size and time is read anew.
func TestAPackedRefsOfTheSameSizeAndTimeIsAnother(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	objects := create(t, s, ref, 2)
	git(t, repo, "pack-refs", "--all")
	found, err := s.ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, objects[2].OID, found)

	file := filepath.Join(repo, ".git/packed-refs")
	info, err := os.Stat(file)
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	other := strings.ReplaceAll(string(text), string(objects[2].OID), string(objects[1].OID))
	require.NoError(t, os.WriteFile(file+".new", []byte(other), 0o644))
	require.NoError(t, os.Chtimes(file+".new", info.ModTime(), info.ModTime()))
	require.NoError(t, os.Rename(file+".new", file))
	found, err = s.ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, objects[1].OID, found)
}
