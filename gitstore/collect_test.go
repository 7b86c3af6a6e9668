package gitstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

func someEvents(first, n int) (events []*conversation.Event) {
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for seq := first; seq < first+n; seq++ {
		events = append(events, &conversation.Event{
			Seq: seq, Version: conversation.Version, Time: at.Add(time.Duration(seq) * time.Second),
			Body: &conversation.Note{Content: strings.Repeat(fmt.Sprintf("Event %d. ", seq), 1+seq%40)},
		})
	}
	return events
}

// Few writes become loose objects, and many one pack, which git finds whole. The collection can build on
// its own events at once, and others see them at the end.
func TestCollectedWritesBecomeOnePack(t *testing.T) {
	for _, n := range []int{3, 400} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f := newFixture(t)
			loose, _, _ := strings.Cut(f.git("count-objects"), ",")
			id, fork := journaltest.ID(1), journaltest.ID(2)
			err := gitstore.Collection{Store: f.Store}.Do(t.Context(), func() error {
				head, err := f.Create(t.Context(), id, "", someEvents(0, n))
				require.NoError(t, err)
				head, err = f.Append(t.Context(), id, head, someEvents(n, n))
				require.NoError(t, err)
				_, err = f.Append(t.Context(), id, "", someEvents(2*n, 1))
				require.ErrorIs(t, err, conversation.ErrHeadMoved)
				_, err = f.Create(t.Context(), id, "", someEvents(0, 1))
				require.ErrorIs(t, err, conversation.ErrExists)
				var at *conversation.Event
				for e, err := range f.Backward(t.Context(), head) {
					require.NoError(t, err)
					if e.Seq == n-1 {
						at = e
					}
				}
				origin := someEvents(n, 1)[0]
				origin.Body = &conversation.ForkOrigin{Conversation: id, Seq: n - 1, Commit: at.Commit}
				_, err = f.Fork(t.Context(), id, conversation.Head(at.Commit), fork, origin)
				require.NoError(t, err)
				require.Empty(t, f.git("for-each-ref", refs))
				return nil
			})
			require.NoError(t, err)
			again := f.again()
			for id, events := range map[conversation.ID]int{id: 2 * n, fork: n + 1} {
				verdict, err := again.Verify(t.Context(), id)
				require.NoError(t, err)
				require.Empty(t, verdict.Problems)
				require.Equal(t, events, verdict.Events)
			}
			f.git("fsck", "--strict", "--full")
			counts := f.git("count-objects", "-v")
			if n > 100 {
				require.Contains(t, counts, "packs: 1\n")
				require.Contains(t, counts, fmt.Sprintf("in-pack: %d\n", 2*n+2))
				require.Contains(t, f.git("count-objects"), loose+",")
				require.Contains(t, counts, "garbage: 0\n")
			} else {
				require.Contains(t, counts, "packs: 0\n")
			}
		})
	}
}

func TestCollectedWritesThatFailLeaveNothing(t *testing.T) {
	f := newFixture(t)
	broken := errors.New("broken")
	err := gitstore.Collection{Store: f.Store}.Do(t.Context(), func() error {
		_, err := f.Create(t.Context(), journaltest.ID(1), "", someEvents(0, 200))
		require.NoError(t, err)
		return broken
	})
	require.ErrorIs(t, err, broken)
	require.Empty(t, f.git("for-each-ref", refs))
	require.Contains(t, f.git("count-objects", "-v"), "garbage: 0\n")
	f.create(1, someEvents(0, 3))
}
