package gitstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// reads counts the files that work opens for reading, in a fresh store.
func reads(t *testing.T, dir string, work func(s *gitstore.Store)) int {
	t.Helper()
	fs := faultfs.New(odb.OS(), faultfs.Plan{})
	s := openStore(t, dir, gitstore.Options{Durability: odb.Off, FS: fs})
	before := len(fs.Trace())
	work(s)
	n := 0
	for _, op := range fs.Trace()[before:] {
		if op == faultfs.Open {
			n++
		}
	}
	return n
}

// The cost of each method is the same for every length of the conversation.
func TestTheTipIsEnough(t *testing.T) {
	type cost struct{ list, info, append, back, fork, archive int }
	costs := map[int]cost{}
	for i, n := range []int{10, 1000} {
		repo := gitenv.Repo(t)
		s := openStore(t, repo, gitstore.Options{Durability: odb.Off})
		id := journaltest.ID(i)
		texts := make([]string, n)
		head, err := s.Create(t.Context(), id, "", say(texts...))
		require.NoError(t, err)
		next := say(append(texts, "a", "b", "c", "d")...)[n:]
		var c cost
		c.list = reads(t, repo, func(s *gitstore.Store) {
			_, err := s.List(t.Context(), conversation.ScopeLive)
			require.NoError(t, err)
		})
		c.info = reads(t, repo, func(s *gitstore.Store) {
			_, err := s.Info(t.Context(), id)
			require.NoError(t, err)
		})
		c.fork = reads(t, repo, func(s *gitstore.Store) {
			_, err := s.Fork(t.Context(), id, head, journaltest.ID(50), next[0])
			require.NoError(t, err)
		})
		c.back = reads(t, repo, func(s *gitstore.Store) {
			seen := 0
			for _, err := range s.Backward(t.Context(), head) {
				require.NoError(t, err)
				if seen++; seen == 3 {
					break
				}
			}
		})
		c.append = reads(t, repo, func(s *gitstore.Store) {
			head, err = s.Append(t.Context(), id, head, next[:1])
			require.NoError(t, err)
		})
		c.archive = reads(t, repo, func(s *gitstore.Store) {
			_, err := s.Archive(t.Context(), id, head, next[1], true)
			require.NoError(t, err)
		})
		costs[n] = c
	}
	require.Equal(t, costs[10], costs[1000])
	require.LessOrEqual(t, costs[10].back, 4, "three events, and no more")
	require.NotZero(t, costs[10].append)
}

func TestOwnTipIsNotReadAgain(t *testing.T) {
	dir := gitenv.Repo(t)
	events := say("0", "1", "2")
	fs := faultfs.New(odb.OS(), faultfs.Plan{})
	opens := func() (n int) {
		for _, op := range fs.Trace() {
			if op == faultfs.Open {
				n++
			}
		}
		return n
	}
	s := openStore(t, dir, gitstore.Options{Durability: odb.Off, FS: fs})
	head, err := s.Create(t.Context(), journaltest.ID(1), "", events[:1])
	require.NoError(t, err)
	before := opens()
	head, err = s.Append(t.Context(), journaltest.ID(1), head, events[1:2])
	require.NoError(t, err)
	warm := opens() - before
	cold := reads(t, dir, func(s *gitstore.Store) {
		_, err = s.Append(t.Context(), journaltest.ID(1), head, events[2:])
		require.NoError(t, err)
	})
	require.Less(t, warm, cold)
}

// The caller owns the store's results: changing them changes nothing here.
func TestTipsAreNotShared(t *testing.T) {
	f := newFixture(t)
	events := journaltest.Turn(t, "first", "answer")
	f.create(1, events)
	events[2].SetText("changed by the writer")
	for range 2 {
		info, err := f.Info(t.Context(), journaltest.ID(1))
		require.NoError(t, err)
		require.Equal(t, "answer", textOf(t, info.Tip))
		info.Tip.SetText("changed by a reader")
	}
}
