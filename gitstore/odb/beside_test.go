package odb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
)

// The test binary is its own second process: with this variable it appends to a repository and prints the
// acknowledged events.
const writerEnv = "ODB_TEST_WRITER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(writerEnv); spec != "" {
		os.Exit(writerProcess(spec))
	}
	if spec := os.Getenv(sharedEnv); spec != "" {
		os.Exit(sharedProcess(spec))
	}
	if spec := os.Getenv(relayEnv); spec != "" {
		os.Exit(relay(spec))
	}
	if os.Getenv(idleEnv) != "" {
		os.Exit(idle())
	}
	os.Exit(m.Run())
}

func writerProcess(spec string) int {
	repo, rest, _ := strings.Cut(spec, "|")
	name, count, _ := strings.Cut(rest, "|")
	n, _ := strconv.Atoi(count)
	s, err := odb.Open(filepath.Join(repo, ".git"), odb.Options{Format: testFormat})
	if err == nil {
		err = appendMany(s, name, n, func(oid odb.OID) { fmt.Println(oid) })
	}
	if s != nil {
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// appendMany wins n compare-and-swaps on one ref, in a race with others.
func appendMany(s *odb.Store, who string, n int, acked func(odb.OID)) error {
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	for i := 0; i < n; {
		old, err := s.ReadRef(ref)
		if err != nil {
			return err
		}
		next := commit(old, fmt.Sprintf("%s %d", who, i))
		err = s.Write(ctx, odb.Batch{
			Objects: []odb.Object{next},
			Updates: []odb.RefUpdate{{Ref: ref, Old: old, New: next.OID}},
		})
		switch {
		case err == nil:
			acked(next.OID)
			i++
		case !errors.Is(err, odb.ErrRefMoved) && !errors.Is(err, odb.ErrRefLocked):
			return err
		}
	}
	return nil
}

// history gives the chain of the ref, as git sees it.
func history(t *testing.T, repo string) map[odb.OID]bool {
	t.Helper()
	out := map[odb.OID]bool{}
	for line := range strings.Lines(git(t, repo, "rev-list", ref)) {
		out[odb.OID(strings.TrimSpace(line))] = true
	}
	return out
}

func TestGoroutinesLoseNothing(t *testing.T) {
	eachPath(t, func(t *testing.T, path odb.Path) {
		repo := newRepo(t)
		s := open(t, repo, odb.Options{Format: testFormat, Path: path, Durability: odb.Off})
		create(t, s, ref, 1)
		var mu sync.Mutex
		var acked []odb.OID
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				err := appendMany(s, fmt.Sprint("writer ", i), 25, func(oid odb.OID) {
					mu.Lock()
					defer mu.Unlock()
					acked = append(acked, oid)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		have := history(t, repo)
		require.Len(t, have, 101)
		for _, oid := range acked {
			require.True(t, have[oid], oid)
		}
	})
}

func TestManyConversationsAtOnce(t *testing.T) {
	eachPath(t, func(t *testing.T, path odb.Path) {
		repo := newRepo(t)
		s := open(t, repo, odb.Options{Format: testFormat, Path: path})
		const writers, events = 16, 5
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				var head odb.OID
				name := fmt.Sprintf("refs/jp/conversations/many-%d", i)
				for range events {
					objects := append([]odb.Object{emptyTree}, chain(head, 1, name)...)
					if err := s.Write(bg, appendBatch(name, head, objects)); err != nil {
						t.Error(err)
						return
					}
					head = tip(objects)
				}
			})
		}
		wg.Wait()
		refs, err := s.ListRefs("refs/jp/")
		require.NoError(t, err)
		require.Len(t, refs, writers)
		for _, r := range refs {
			require.Equal(t, fmt.Sprint(events), git(t, repo, "rev-list", "--count", r.Name))
		}
		requireSound(t, repo)
	})
}

func TestProcessesLoseNothing(t *testing.T) {
	each := row.Of(40, 100, 500)
	repo := newRepo(t)
	create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 1)
	var wg sync.WaitGroup
	acked := make([]string, 2)
	for i := range acked {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|process %d|%d", writerEnv, repo, i, each))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			acked[i] = string(out)
		})
	}
	wg.Wait()
	have := history(t, repo)
	require.Len(t, have, 2*each+1)
	for oid := range strings.FieldsSeq(acked[0] + acked[1]) {
		require.True(t, have[odb.OID(oid)], oid)
	}
	row.Log(t, row.Row{Class: "d", Name: "2 processes move one ref: moves acknowledged", Points: 2 * each})
}

// beside runs a git command over and over, up to a bound, while work runs.
func beside(t *testing.T, repo string, bound int, args []string, work func()) (runs int) {
	t.Helper()
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for runs < bound && !stop.Load() {
			// It may fail: on our lock, or on an object that it has pruned
			// from under the ref and that the writer has yet to restore.
			tryGit(repo, "", args...)
			runs++
		}
	})
	work()
	stop.Store(true)
	wg.Wait()
	require.NotZero(t, runs, "git never ran beside the writer")
	return runs
}

func TestBesideGitMaintenance(t *testing.T) {
	for _, args := range [][]string{
		{"pack-refs", "--all"},
		{"gc", "--quiet", "--prune=now"},
		{"prune", "--expire=now"},
		{"repack", "-adq"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			repo := newRepo(t)
			s := open(t, repo, withGit(repo))
			create(t, s, ref, 1)
			var acked []odb.OID
			n := row.Of(150, 200, 1000)
			runs := beside(t, repo, 200, args, func() {
				err := appendMany(s, "writer", n, func(oid odb.OID) { acked = append(acked, oid) })
				require.NoError(t, err)
			})
			require.NoError(t, s.Close())
			have := history(t, repo)
			require.Len(t, have, n+1)
			for _, oid := range acked {
				require.True(t, have[oid], oid)
			}
			requireSound(t, repo)
			row.Log(t, row.Row{
				Class: "d", Name: "beside git " + strings.Join(args, " ") + ": moves acknowledged", Points: n, Note: fmt.Sprint(runs, " runs of git"),
			})
		})
	}
}

func TestReadersBesidePackRefsNeverMiss(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat, Durability: odb.Off})
	create(t, s, ref, 1)
	reader := open(t, repo, odb.Options{Format: testFormat})
	beside(t, repo, 200, []string{"pack-refs", "--all"}, func() {
		var wg sync.WaitGroup
		var done atomic.Bool
		wg.Go(func() {
			for !done.Load() {
				if _, err := reader.ReadRef(ref); err != nil {
					t.Error(err)
					return
				}
				if refs, err := reader.ListRefs("refs/jp/"); err != nil || len(refs) != 1 {
					t.Error(refs, err)
					return
				}
			}
		})
		require.NoError(t, appendMany(s, "writer", 300, func(odb.OID) {}))
		done.Store(true)
		wg.Wait()
	})
}

func TestBesideGitUpdateRef(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	create(t, s, ref, 1)
	const each = 60
	var wg sync.WaitGroup
	wg.Go(func() {
		for won, tries := 0, 0; won < each && tries < 50*each; tries++ {
			old, err := tryGit(repo, "", "rev-parse", "--verify", ref)
			if err != nil {
				t.Error(err)
				return
			}
			next, err := tryGit(repo, "", "commit-tree", "-p", old, "-m", fmt.Sprint("git ", won), string(emptyTree.OID))
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := tryGit(repo, "", "update-ref", ref, next, old); err == nil {
				won++
			}
		}
	})
	require.NoError(t, appendMany(s, "ours", each, func(odb.OID) {}))
	wg.Wait()
	require.Len(t, history(t, repo), 1+2*each)
}
