package gitstore_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/faultfs"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// points counts the operations that were tried, and those whose failure had an effect.
type points struct{ tried, felt int }

// Every operation of the disk fails, once or from then on for good. The test checks the rest of the disk,
// crashes it, checks it again, and goes on.
func TestEveryOperationFails(t *testing.T) {
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var total points
			for _, journal := range []bool{true, false} {
				n := undisturbed(t, w, journal)
				p := failEach(t, w, journal, n)
				require.Greater(t, p.felt, p.tried/2, "the faults are felt")
				total.tried, total.felt = total.tried+n, total.felt+p.felt
			}
			row.Log(t, row.Row{
				Class: "a", Name: w.name + ": operation k fails", Points: total.felt,
				Note: fmt.Sprintf("%d operations on two write paths × EIO, ENOSPC, EDQUOT, short write × once, for good", total.tried),
			})
		})
	}
}

// undisturbed counts the operations of a write.
func undisturbed(t *testing.T, w write, journal bool) int {
	t.Helper()
	sc := newScene(t, journal)
	out, fs := sc.attempt(w, faultfs.Plan{})
	require.True(t, out.acked)
	sc.look(sc.disk, out, w.name)
	return fs.Count()
}

// failEach lets each of n operations fail, in all ways or in some of them.
func failEach(t *testing.T, w write, journal bool, n int) (p points) {
	rng := rand.New(rand.NewPCG(1, 2))
	step := row.Of(41, 11, 1)
	for at := 0; at < n*2*len(errorsOfDisks); at += step {
		k, kind := at/(2*len(errorsOfDisks))+1, at%(2*len(errorsOfDisks))
		plan := errorsOfDisks[kind/2]
		plan.At, plan.ForGood = k, kind%2 == 1
		what := fmt.Sprintf("%s, journal %v, operation %d of %d: %+v", w.name, journal, k, n, plan)
		sc := newScene(t, journal)
		out, fs := sc.attempt(w, plan)
		if plan.Short && !fs.Felt() {
			continue
		}
		p.tried++
		if fs.Felt() {
			p.felt++
		}
		sc.look(sc.disk, out, what)
		cut := sc.look(sc.disk.Crash(rng), out, what+", then a crash")
		cut.goesOn(w, what+", then a crash")
	}
	return p
}

// The power goes at every operation, and unflushed data is lost at random; then it goes again, at a random
// operation of the next process.
func TestCrashAtEveryOperation(t *testing.T) {
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			seeds := row.Of(1, 2, 6)
			tried := 0
			for _, journal := range []bool{true, false} {
				n := undisturbed(t, w, journal)
				for k := 1; k <= n+1; k += row.Of(13, 3, 1) {
					crashTwice(t, w, journal, k, n, seeds)
					tried++
				}
			}
			row.Log(t, row.Row{
				Class: "a", Name: w.name + ": crash at operation k, again in the recovery", Points: tried,
				Note: fmt.Sprintf("on two write paths; %d ways each to lose what was not flushed", seeds),
			})
		})
	}
}

func crashTwice(t *testing.T, w write, journal bool, k, n, seeds int) {
	sc := newScene(t, journal)
	out, _ := sc.attempt(w, faultfs.Plan{At: k, Crash: true})
	require.True(t, out.acked || k <= n)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(uint64(k), seed))
		what := fmt.Sprintf("%s, journal %v, crash at %d of %d, seed %d", w.name, journal, k, n, seed)
		cut := sc.look(sc.disk.Crash(rng), out, what)
		cut.disk.Age(time.Hour)
		at := 1 + rng.IntN(n)
		what = fmt.Sprintf("%s, again at %d", what, at)
		next, _ := cut.attempt(w, faultfs.Plan{At: at, Crash: true})
		again := cut.look(cut.disk.Crash(rng), next, what)
		again.goesOn(w, what)
	}
}

// Payload is kept before an event names it: if the last ref to move fails, a ref keeps every payload that a
// conversation names.
func TestPayloadIsKeptBeforeAnEventNamesIt(t *testing.T) {
	for _, w := range writes {
		for _, journal := range []bool{true, false} {
			sc := newScene(t, journal)
			_, fs := sc.attempt(w, faultfs.Plan{})
			renames := 0
			for _, op := range fs.Trace() {
				renames += count(op == faultfs.Rename)
			}
			sc = newScene(t, journal)
			out, fs := sc.attempt(w, faultfs.Plan{Only: faultfs.Rename, At: renames, Err: syscall.EIO})
			require.True(t, fs.Felt(), w.name)
			require.False(t, out.acked, w.name)
			sc.look(sc.disk, out, fmt.Sprintf("%s, journal %v", w.name, journal))
		}
	}
}

// A scene must notice lost data, or it proves nothing.
func TestSceneCatchesAMissingFlush(t *testing.T) {
	for _, w := range writes {
		sc := newScene(t, true)
		out, _ := sc.attempt(w, faultfs.Plan{Skip: func(op faultfs.Op) bool { return op == faultfs.SyncDir }})
		require.True(t, out.acked)
		lost := 0
		for seed := range uint64(40) {
			s, err := openOn(sc.disk.Crash(rand.New(rand.NewPCG(9, seed))))
			require.NoError(t, err)
			head, err := s.Head(t.Context(), out.id)
			lost += count(err != nil || string(head) != out.after[len(out.after)-1])
			require.NoError(t, s.Close())
		}
		require.Positive(t, lost, w.name)
	}
}

// Events that could not be stored are the same when they are stored later.
func TestRetryStoresTheSame(t *testing.T) {
	want := journaltest.Turn(t, "first", "answer")
	require.NotEmpty(t, newFixture(t).create(1, want))
	got := journaltest.Turn(t, "first", "answer")
	s := openStore(t, gitenv.Repo(t), gitstore.Options{
		Durability: odb.Off, FS: faultfs.New(odb.OS(), faultfs.Plan{At: 1, Only: faultfs.Write, Err: syscall.ENOSPC}),
	})
	_, err := s.Create(t.Context(), journaltest.ID(1), "", got)
	require.ErrorIs(t, err, conversation.ErrNoSpace)
	_, err = s.Create(t.Context(), journaltest.ID(1), "", got)
	require.NoError(t, err)
	require.Equal(t, commits(want), commits(got))
}
