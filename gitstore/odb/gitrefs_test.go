package odb_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

// relayEnv makes the test binary a git that ends at a point of a talk: with "FILE|POINT" as
// its value. FILE counts how many are left to end so.
const relayEnv = "ODB_TEST_RELAY"

// relayPoints are the places at which a git that moves refs can be killed: before it reads a
// line, and after it wrote one that its caller never sees.
var relayPoints = []string{"in0", "in1", "in2", "in3", "out0", "out1", "out2"}

// relay is git, or for update-ref a talk with one that is killed at the point.
func relay(spec string) int {
	file, point, _ := strings.Cut(spec, "|")
	cmd := exec.Command("git", os.Args[1:]...)
	cmd.Stderr = os.Stderr
	left, _ := os.ReadFile(file)
	count, _ := strconv.Atoi(strings.TrimSpace(string(left)))
	if !slices.Contains(os.Args, "update-ref") || count == 0 {
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		if cmd.Run() != nil {
			return cmd.ProcessState.ExitCode()
		}
		return 0
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return 1
	}
	var once sync.Mutex
	kill := func() {
		once.Lock() // for good
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
		_ = os.WriteFile(file, []byte(strconv.Itoa(count-1)), 0o600)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	pass := func(from io.Reader, to io.Writer, name string) {
		lines := bufio.NewReader(from)
		for n := 0; ; n++ {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if point == name+strconv.Itoa(n) {
				kill()
			}
			_, _ = io.WriteString(to, line)
		}
	}
	go func() { pass(os.Stdin, in, "in"); in.Close() }()
	pass(out, os.Stdout, "out")
	once.Lock() // the other one kills
	if cmd.Wait() != nil {
		return cmd.ProcessState.ExitCode()
	}
	return 0
}

// refKinds are the repositories in which git keeps the refs: with files, and with a reftable if the git of
// PATH has that.
func refKinds(t *testing.T, run func(t *testing.T, repo string, format gitcmd.RefFormat)) {
	t.Run("files", func(t *testing.T) {
		was := gitcmd.RefsThroughGit
		gitcmd.RefsThroughGit = true
		defer func() { gitcmd.RefsThroughGit = was }()
		run(t, newRepo(t), gitcmd.RefFiles)
	})
	t.Run("reftable", func(t *testing.T) {
		if !gitenv.KnowsReftable() {
			t.Skip("this git has no reftable; tools/git-next unpacks one that has")
		}
		repo := t.TempDir()
		git(t, repo, "init", "-q", "-b", "main", "--ref-format=reftable")
		run(t, repo, gitcmd.Reftable)
	})
}

func requireNoLocks(t *testing.T, repo string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(repo, ".git"), func(path string, _ os.DirEntry, err error) error {
		require.NotEqual(t, ".lock", filepath.Ext(path))
		return err
	}))
}

// TestGitIsKilledWhileItMovesRefs kills the git at every point of a transaction, once and several times:
// the write succeeds, the log tells it, and no file is left.
func TestGitIsKilledWhileItMovesRefs(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	refKinds(t, func(t *testing.T, repo string, format gitcmd.RefFormat) {
		for i, point := range relayPoints {
			for _, kills := range map[bool][]int{true: {1, 3}, false: {1}}[point == "out1"] {
				file := filepath.Join(t.TempDir(), "left")
				require.NoError(t, os.WriteFile(file, []byte("0"), 0o600))
				var log bytes.Buffer
				s := open(t, repo, odb.Options{
					RefFormat: format, LockTimeout: 20 * time.Second, Log: slog.New(slog.NewTextHandler(&log, nil)),
					// A killed git's locks are old at once.
					Now: func() time.Time { return time.Now().Add(time.Minute) },
					Git: gitcmd.New(repo, gitcmd.Options{Program: self, Environ: append(environ(), relayEnv+"="+file+"|"+point)}),
				})
				name, archived := fmt.Sprintf("refs/jp/conversations/jp-%d-%d", kills, i), fmt.Sprintf("refs/jp/archive/jp-%d-%d", kills, i)
				require.NoError(t, os.WriteFile(file, []byte(strconv.Itoa(kills)), 0o600))
				first := create(t, s, name, 1) // the first transaction of a git
				require.Contains(t, log.String(), "git update-ref was killed", point)

				more := chain(tip(first), 2, "more")
				log.Reset()
				require.NoError(t, os.WriteFile(file, []byte(strconv.Itoa(kills)), 0o600))
				require.NoError(t, s.Write(bg, appendBatch(name, tip(first), more)), "the git that is there lives on")
				require.NoError(t, s.Transaction(bg, []odb.RefUpdate{{Ref: archived, New: tip(more)}, {Ref: name, Old: tip(more)}}))

				got, err := s.ReadRef(archived)
				require.NoError(t, err)
				require.Equal(t, tip(more), got)
				_, err = s.ReadRef(name)
				require.ErrorIs(t, err, odb.ErrRefNotFound)
				require.Equal(t, "3", git(t, repo, "rev-list", "--count", archived))
				require.NoError(t, s.Close())
				requireNoLocks(t, repo)
			}
		}
		requireSound(t, repo)
	})
}

// TestGitRefsAreComparedAndRefused moves refs that others have moved, or hold.
func TestGitRefsAreComparedAndRefused(t *testing.T) {
	refKinds(t, func(t *testing.T, repo string, format gitcmd.RefFormat) {
		opts := withGit(repo)
		opts.RefFormat = format
		s := open(t, repo, opts)
		first := create(t, s, ref, 1)
		git(t, repo, "update-ref", "refs/heads/main", string(tip(first)))
		user := git(t, repo, "rev-parse", "refs/heads/main")
		ours, theirs := chain(tip(first), 1, "ours"), chain(tip(first), 1, "theirs")
		require.NoError(t, open(t, repo, opts).Write(bg, appendBatch(ref, tip(first), theirs)))

		err := s.Write(bg, appendBatch(ref, tip(first), ours))
		require.ErrorIs(t, err, odb.ErrRefMoved)
		var moved *odb.RefError
		require.ErrorAs(t, err, &moved)
		require.Equal(t, tip(theirs), moved.Found)
		require.ErrorIs(t, s.Write(bg, appendBatch(ref, "", ours)), odb.ErrRefExists)
		require.ErrorIs(t, s.Write(bg, appendBatch(ref+"/below", "", ours)), odb.ErrRefConflict)
		require.NoError(t, s.Write(bg, appendBatch(ref, tip(theirs), chain(tip(theirs), 1, "ours"))), "after a refusal")

		git(t, repo, "symbolic-ref", "refs/jp/conversations/jp-s", ref)
		_, err = s.ReadRef("refs/jp/conversations/jp-s")
		require.ErrorIs(t, err, odb.ErrRefSymbolic)
		all, err := s.ListRefs("refs/jp/conversations/")
		require.ErrorIs(t, err, odb.ErrRefSymbolic)
		require.Len(t, all, 1)
		names, _ := s.RefNames("refs/jp/conversations/jp-c")
		require.Equal(t, []string{ref}, names)
		git(t, repo, "update-ref", "refs/jp/archive/jp-a", string(tip(first)))
		all, names, err = s.ListBeside("refs/jp/archive/", "refs/jp/conversations/", nil)
		require.NoError(t, err)
		require.Equal(t, []odb.Ref{{Name: "refs/jp/archive/jp-a", OID: tip(first)}}, all)
		require.Equal(t, []string{ref}, names)
		all, names, err = s.ListBeside("refs/jp/conversations/", "refs/jp/archive/", nil)
		require.ErrorIs(t, err, odb.ErrRefSymbolic)
		require.Equal(t, ref, all[0].Name)
		require.Equal(t, []string{"refs/jp/archive/jp-a"}, names)
		git(t, repo, "symbolic-ref", "--delete", "refs/jp/conversations/jp-s")

		lock := filepath.Join(repo, ".git", ref+".lock")
		if format == gitcmd.Reftable {
			lock = filepath.Join(repo, ".git", "reftable", "tables.list.lock")
		}
		require.NoError(t, os.WriteFile(lock, nil, 0o666))
		head, err := s.ReadRef(ref)
		require.NoError(t, err)
		require.ErrorIs(t, s.Write(bg, appendBatch(ref, head, chain(head, 1, "locked"))), odb.ErrRefLocked)
		require.FileExists(t, lock, "another's lock is left alone")
		require.NoError(t, os.Remove(lock))
		require.NoError(t, s.Write(bg, appendBatch(ref, head, chain(head, 1, "free"))))

		require.Equal(t, user, git(t, repo, "rev-parse", "refs/heads/main"))
		require.NoDirExists(t, filepath.Join(repo, ".git/logs/refs/jp"))
		require.Empty(t, git(t, repo, "reflog", "show", ref))
		requireSound(t, repo)
	})
}

// TestListingsHoldUntilTablesChange counts how often git is started to read refs of a reftable,
// and lets another process move them in between.
func TestListingsHoldUntilTablesChange(t *testing.T) {
	if !gitenv.KnowsReftable() {
		t.Skip("this git has no reftable; tools/git-next unpacks one that has")
	}
	dir := t.TempDir()
	git(t, dir, "init", "-q", "--ref-format=reftable")
	calls := filepath.Join(t.TempDir(), "calls")
	program := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ncase \"$*\" in *for-each-ref*) echo >>'"+calls+"';; esac\nexec git \"$@\"\n"), 0o755))
	s := open(t, dir, odb.Options{Format: testFormat, RefFormat: gitcmd.Reftable, Git: gitcmd.New(dir, gitcmd.Options{Program: program, Environ: environ()})})
	started := func() int {
		text, _ := os.ReadFile(calls) // missing before the first call
		require.NoError(t, os.WriteFile(calls, nil, 0o600))
		return len(text)
	}
	name := func(i int) string { return fmt.Sprintf("refs/jp/conversations/jp-n%d", i) }
	heads := map[string]odb.OID{}
	for i := range 10 {
		heads[name(i)] = tip(create(t, s, name(i), 1))
	}

	started()
	for range 2 {
		for i := range 10 {
			head, err := s.ReadRef(name(i))
			require.NoError(t, err)
			require.Equal(t, heads[name(i)], head)
			_, err = s.ReadRef(strings.Replace(name(i), "conversations", "archive", 1))
			require.ErrorIs(t, err, odb.ErrRefNotFound)
		}
		all, err := s.ListRefs("refs/jp/conversations/")
		require.NoError(t, err)
		require.Len(t, all, 10)
	}
	require.LessOrEqual(t, started(), 6, "a few refs alone, and then their folders")

	git(t, dir, "update-ref", name(0), string(heads[name(1)]))
	git(t, dir, "update-ref", "-d", name(1))
	git(t, dir, "update-ref", name(10), string(heads[name(2)]))
	git(t, dir, "symbolic-ref", name(11), name(3))
	for i, want := range map[int]odb.OID{0: heads[name(1)], 3: heads[name(3)], 10: heads[name(2)]} {
		head, err := s.ReadRef(name(i))
		require.NoError(t, err)
		require.Equal(t, want, head)
	}
	_, err := s.ReadRef(name(1))
	require.ErrorIs(t, err, odb.ErrRefNotFound)
	_, err = s.ReadRef(name(11))
	require.ErrorIs(t, err, odb.ErrRefSymbolic)

	started()
	_, err = s.ReadRef(name(11))
	require.ErrorIs(t, err, odb.ErrRefSymbolic, "what is wrong with a ref is kept, too")
	all, err := s.ListRefs("refs/jp/conversations/")
	require.ErrorIs(t, err, odb.ErrRefSymbolic)
	require.Len(t, all, 10)
	require.LessOrEqual(t, started(), 1)

	s.ReadAhead(name(20), "refs/jp/remotes/")
	started()
	for _, absent := range []string{name(20), "refs/jp/remotes/x/jp-n0"} {
		_, err = s.ReadRef(absent)
		require.ErrorIs(t, err, odb.ErrRefNotFound)
	}
	require.Zero(t, started(), "one git has told of all")
}

// TestRefsAreMigrated moves all refs into a reftable, and back, while a Store is open.
func TestRefsAreMigrated(t *testing.T) {
	if !gitenv.KnowsReftable() {
		t.Skip("this git has no reftable; tools/git-next unpacks one that has")
	}
	repo := newRepo(t)
	s := open(t, repo, withGit(repo))
	head := tip(create(t, s, ref, 1))
	for i, format := range []string{"reftable", "files", "reftable"} {
		if git(t, repo, "rev-parse", "--show-ref-format") != format {
			git(t, repo, "refs", "migrate", "--ref-format="+format)
		}
		more := chain(head, 1, format+strconv.Itoa(i))
		require.NoError(t, s.Write(bg, appendBatch(ref, head, more)))
		head = tip(more)
		require.Equal(t, string(head), git(t, repo, "rev-parse", ref), format)
		create(t, s, fmt.Sprint("refs/jp/conversations/jp-n", i), 1)
		all, err := s.ListRefs("refs/jp/")
		require.NoError(t, err)
		require.Len(t, all, 2+i)
		require.Equal(t, strconv.Itoa(2+i), git(t, repo, "rev-list", "--count", ref))
	}
	requireSound(t, repo)
}
