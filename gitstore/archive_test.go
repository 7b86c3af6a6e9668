package gitstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/journaltest"
)

// moving is the record of a move into the archive, or out of it.
func moving(seq int, at time.Time) *conversation.Event {
	e := attached(seq, "why", []byte("moved"))
	e.Body = &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{Time: at}}
	return e
}

// The next move, in either direction, and a deletion complete an interrupted move.
func TestArchiveThatWasBrokenOff(t *testing.T) {
	id := journaltest.ID(1)
	live, archive := gitstore.RefOf(id), "refs/jp/archive/"+string(id)
	for name, c := range map[string]struct {
		archived bool // the result of the next move
		broken   bool // the move that was broken off was one into the archive
		moves    int  // number of records then
	}{
		"into the archive":           {archived: true, broken: true, moves: 1},
		"out of it":                  {archived: false, broken: false, moves: 2},
		"out of it, and into it now": {archived: true, broken: false, moves: 3},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			first := f.create(1, say("x"))
			head, err := f.Archive(t.Context(), id, first, moving(1, when), true)
			require.NoError(t, err)
			expect := first
			if c.broken {
				f.git("update-ref", live, string(first))
			} else {
				back, err := f.Archive(t.Context(), id, head, moving(2, time.Time{}), false)
				require.NoError(t, err)
				f.git("update-ref", archive, string(head))
				expect = back
			}
			got, err := f.again().Archive(t.Context(), id, expect, moving(3, when), c.archived)
			require.NoError(t, err)
			there, gone := live, archive
			if c.archived {
				there, gone = gone, there
			}
			require.Equal(t, string(got), f.git("rev-parse", there))
			require.Empty(t, f.git("for-each-ref", gone))
			events, err := f.again().Load(t.Context(), got)
			require.NoError(t, err)
			require.Len(t, events, 1+c.moves)
			fsck(t, f.dir)
		})
	}
}

func TestArchiveKeepsWhatSomebodyElseHas(t *testing.T) {
	f := newFixture(t)
	id := journaltest.ID(1)
	head := f.create(1, say("x"))
	other := f.create(2, say("y"))
	f.git("update-ref", "refs/jp/archive/"+string(id), string(other))
	for _, archived := range []bool{true, false} {
		_, err := f.Archive(t.Context(), id, head, moving(1, when), archived)
		require.ErrorIs(t, err, conversation.ErrExists)
		var twice *gitstore.DuplicateIDError
		require.ErrorAs(t, err, &twice)
		require.Equal(t, &gitstore.DuplicateIDError{ID: id, Live: head, Archived: other}, twice)
	}
	require.Equal(t, string(head), f.git("rev-parse", gitstore.RefOf(id)))
}

func TestEndMove(t *testing.T) {
	f := newFixture(t)
	id := journaltest.ID(1)
	first := f.create(1, say("x"))
	ended, err := f.EndMove(t.Context(), id)
	require.NoError(t, err)
	require.False(t, ended, "it is in one place")
	head, err := f.Archive(t.Context(), id, first, moving(1, when), true)
	require.NoError(t, err)
	back, err := f.Archive(t.Context(), id, head, moving(2, time.Time{}), false)
	require.NoError(t, err)
	for _, older := range []conversation.Head{head, first} {
		f.git("update-ref", "refs/jp/archive/"+string(id), string(older))
		ended, err = f.again().EndMove(t.Context(), id)
		require.NoError(t, err)
		require.True(t, ended)
		require.Equal(t, gitstore.RefOf(id)+" "+string(back), f.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/jp/archive", "refs/jp/conversations"))
	}
	f.git("update-ref", "refs/jp/archive/"+string(id), string(f.create(2, say("y"))))
	ended, err = f.EndMove(t.Context(), id)
	var twice *gitstore.DuplicateIDError
	require.ErrorAs(t, err, &twice)
	require.False(t, ended, "they are two")
}

func TestDeleteOfAMoveThatWasBrokenOff(t *testing.T) {
	f := newFixture(t)
	id := journaltest.ID(1)
	first := f.create(1, say("x"))
	head, err := f.Archive(t.Context(), id, first, moving(1, when), true)
	require.NoError(t, err)
	f.git("update-ref", gitstore.RefOf(id), string(first))
	require.ErrorIs(t, f.again().Delete(t.Context(), id, first), conversation.ErrHeadMoved, "there are newer events")
	require.NoError(t, f.again().Delete(t.Context(), id, head))
	require.Empty(t, f.git("for-each-ref", "refs/jp"))
}

// A move's commit that git prunes right after the move comes back.
func TestPrunedRecordOfAMoveIsRestored(t *testing.T) {
	f := newFixture(t)
	first := f.create(1, say("x"))
	s := openStore(t, f.dir, gitstore.Options{Durability: odb.Off})
	head, err := s.Archive(t.Context(), journaltest.ID(1), first, moving(1, when), true)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", string(head[:2]), string(head[2:]))))
	require.NoError(t, s.Close())
	events, err := f.again().Load(t.Context(), head)
	require.NoError(t, err)
	require.Len(t, events, 2)
	fsck(t, f.dir)
}
