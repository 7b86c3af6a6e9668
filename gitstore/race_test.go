package gitstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/journaltest"
)

// ledger has the acknowledgements that writers got.
type ledger struct {
	mu    sync.Mutex
	acked map[string]string // commit → text
	won   map[conversation.Head]int
}

// races appends n groups to one conversation in a race with other writers.
func (l *ledger) races(t *testing.T, f *fixture, who string, n int, payload bool) error {
	id := journaltest.ID(1)
	for i := 0; i < n; {
		head, err := f.Head(t.Context(), id)
		if err != nil {
			return err
		}
		info, err := f.Info(t.Context(), id)
		if err != nil || info.Head != head {
			continue // it has moved on meanwhile
		}
		a, b := *say("x")[0], attached(info.Tip.Seq+2, "p", fmt.Append(nil, who, i))
		a.Seq, a.Body = info.Tip.Seq+1, &conversation.Note{Content: fmt.Sprint(who, " ", i)}
		if !payload {
			b.Payloads = nil
		}
		_, err = f.Append(t.Context(), id, head, []*conversation.Event{&a, b})
		switch {
		case errors.Is(err, conversation.ErrHeadMoved), errors.Is(err, odb.ErrRefLocked):
			continue
		case err != nil:
			return err
		}
		l.mu.Lock()
		l.acked[a.Commit], l.acked[b.Commit] = fmt.Sprint(who, " ", i), "see"
		l.won[head]++
		l.mu.Unlock()
		i++
	}
	return nil
}

func newLedger() *ledger {
	return &ledger{acked: map[string]string{}, won: map[conversation.Head]int{}}
}

// check asserts that exactly the acknowledged events are there.
func (l *ledger) check(t *testing.T, f *fixture) {
	t.Helper()
	events, err := f.again().load(1)
	require.NoError(t, err)
	require.Len(t, events, 1+len(l.acked))
	for _, e := range events[1:] {
		require.Equal(t, l.acked[e.Commit], textOf(t, e))
		for _, p := range e.Payloads {
			_, ok, err := f.Payload(t.Context(), p)
			require.NoError(t, err)
			require.True(t, ok)
		}
	}
	for i := 1; i < len(events); i += 2 {
		require.Equal(t, "see", textOf(t, events[i+1]), "groups are not interleaved")
	}
	for head, winners := range l.won {
		require.Equal(t, 1, winners, head)
	}
	f.again().verified(1)
	fsck(t, f.dir)
}

// The compare-and-swap is the guarantee, with the lock of the conversation or without.
func TestRacingStores(t *testing.T) {
	acked := 0
	for _, payload := range []bool{false, true} {
		f := newFixture(t)
		f.create(1, say("start"))
		l := newLedger()
		var wg sync.WaitGroup
		for i := range 4 {
			own := f.again()
			wg.Go(func() {
				if err := l.races(t, own, fmt.Sprint("writer ", i), row.Of(8, 25, 100), payload); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		l.check(t, f)
		acked += len(l.acked)
	}
	row.Log(t, row.Row{Class: "d", Name: "4 stores add to one conversation without its lock: events acknowledged", Points: acked})
}

// All processes that make the same conversation at once: one does.
func TestRacingCreates(t *testing.T) {
	f := newFixture(t)
	var mu sync.Mutex
	made := 0
	var wg sync.WaitGroup
	for i := range 8 {
		own := f.again()
		wg.Go(func() {
			_, err := own.Create(t.Context(), journaltest.ID(1), "", say(fmt.Sprint("from ", i)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case !errors.Is(err, conversation.ErrExists) && !errors.Is(err, odb.ErrRefLocked):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, made)
	f.verified(1)
}
