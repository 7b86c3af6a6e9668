package odb_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// idleEnv makes the test binary a process that waits for its input to end.
const idleEnv = "ODB_TEST_IDLE"

// told is a log that passes its messages on.
type told chan string

func (t told) Enabled(context.Context, slog.Level) bool { return true }
func (t told) WithAttrs([]slog.Attr) slog.Handler       { return t }
func (t told) WithGroup(string) slog.Handler            { return t }
func (t told) Handle(_ context.Context, r slog.Record) error {
	t <- r.Message
	return nil
}

// fakeGC is an idle process that looks like a gc which was started with arguments.
func fakeGC(t *testing.T, repo string, args ...string) (end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), idleEnv+"=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	host, err := os.Hostname()
	require.NoError(t, err)
	file := filepath.Join(repo, ".git", "gc.pid")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "%d %s\n", cmd.Process.Pid, host), 0o644))
	end = func() {
		_ = os.Remove(file)
		in.Close()
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	return end
}

// Objects that a gc prunes after the writer's end are there again.
func TestCloseWaitsForAGCThatPrunes(t *testing.T) {
	for _, by := range []string{"arguments", "configuration"} {
		repo := newRepo(t)
		log := make(told, 10)
		opts := withGit(repo)
		opts.Log = slog.New(log)
		s, err := odb.Open(filepath.Join(repo, ".git"), opts)
		require.NoError(t, err)
		args := []string{"gc", "--prune=now"}
		if by == "configuration" {
			git(t, repo, "config", "gc.pruneExpire", "now")
			args = args[:1]
		}
		end := fakeGC(t, repo, args...)
		objects := create(t, s, ref, 2)
		closed := make(chan error)
		go func() { closed <- s.Close() }()
		require.Contains(t, <-log, "waiting for git gc", by)
		for _, o := range objects[1:] {
			require.NoError(t, os.Remove(objectFile(t, repo, o.OID)))
		}
		end()
		require.NoError(t, <-closed)
		require.Contains(t, <-log, "wrote objects again")
		requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
		requireSound(t, repo)
	}
}

func TestCloseDoesNotWait(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		pid   string // in place of the file's
		write bool
	}{
		{"gc with a grace period", []string{"gc", "--auto"}, "", true},
		{"gc that prunes, and nothing was written", []string{"gc", "--prune=now"}, "", false},
		{"on another machine", []string{"gc", "--prune=now"}, "1 elsewhere.example\n", true},
		{"no number", []string{"gc", "--prune=now"}, "x\n", true},
		{"this process", []string{"gc", "--prune=now"}, fmt.Sprint(os.Getpid()), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			repo := newRepo(t)
			log := make(told, 10)
			opts := withGit(repo)
			opts.Log = slog.New(log)
			s, err := odb.Open(filepath.Join(repo, ".git"), opts)
			require.NoError(t, err)
			fakeGC(t, repo, tt.args...)
			if tt.pid != "" {
				require.NoError(t, os.WriteFile(filepath.Join(repo, ".git", "gc.pid"), []byte(tt.pid), 0o644))
			}
			if tt.write {
				create(t, s, ref, 1)
			}
			require.NoError(t, s.Close())
			require.Empty(t, log)
		})
	}
}

// Objects to which another git gives a ref are watched, too.
func TestWatchedObjectsAreRestored(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, withGit(repo))
	o := blob(strings.Repeat("watched", 3))
	require.NoError(t, s.Write(bg, odb.Batch{Objects: []odb.Object{o}}))
	require.NoError(t, os.Remove(objectFile(t, repo, o.OID)))
	restored, err := s.Restore(bg)
	require.NoError(t, err)
	require.False(t, restored, "nobody has asked for it")
	s.Watch([]odb.Object{o})
	restored, err = s.Restore(bg)
	require.NoError(t, err)
	require.True(t, restored)
	requireReads(t, s, []odb.Object{o})
	restored, err = s.Restore(bg)
	require.NoError(t, err)
	require.False(t, restored)
}

func idle() int {
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}
