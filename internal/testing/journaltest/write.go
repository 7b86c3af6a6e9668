package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func testCreate(t *testing.T, j conversation.Journal) {
	events := Sample(t).Events()
	head := create(t, j, ID(1), events)
	require.Equal(t, string(head), events[len(events)-1].Commit, "each event has its id")
	requireUnchanged(t, j, ID(1), head, events)
	for i, e := range events {
		require.Equal(t, i, e.Seq)
	}
}

func testCreateTaken(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	_, err := j.Create(t.Context(), ID(1), "", Turn(t, "other", "words"))
	require.ErrorIs(t, err, conversation.ErrExists)
	requireUnchanged(t, j, ID(1), head, s.Events())
}

func testCreateGap(t *testing.T, j conversation.Journal) {
	_, err := j.Create(t.Context(), ID(1), "", Turn(t, "a", "b")[1:])
	require.Error(t, err)
	_, err = j.Head(t.Context(), ID(1))
	require.ErrorIs(t, err, conversation.ErrNotFound)
}

func testAppend(t *testing.T, j conversation.Journal) {
	s := NewScript(t)
	var head conversation.Head
	heads := map[conversation.Head]bool{}
	s.Commit = func(events []*conversation.Event) error {
		var err error
		if head == "" {
			head, err = j.Create(t.Context(), ID(1), "", events)
		} else {
			head, err = j.Append(t.Context(), ID(1), head, events)
		}
		heads[head] = true
		return err
	}
	SampleTools(s)
	requireUnchanged(t, j, ID(1), head, s.Events())
	require.Greater(t, len(heads), 10, "every append has a head of its own")
}

func testAppendGroup(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	group := next(t, s, "second")
	require.Greater(t, len(group), 1)
	at, err := j.Append(t.Context(), ID(1), head, group)
	require.NoError(t, err)
	require.Equal(t, string(at), group[len(group)-1].Commit)
	requireUnchanged(t, j, ID(1), at, s.Events())
	head = at

	group = next(t, s, "third")
	group[1].Body = &conversation.ConfigDelta{Delta: []byte("{}")}
	group[1].Seq++ // the second event of the group is wrong
	_, err = j.Append(t.Context(), ID(1), head, group)
	require.Error(t, err)
	requireUnchanged(t, j, ID(1), head, s.Events()[:group[0].Seq])
}

func testAppendMoved(t *testing.T, j conversation.Journal) {
	s, first := created(t, j, ID(1))
	fork := conversation.JoinTail(conversation.SplitTail(slices.Clone(s.Events())))
	head, err := j.Append(t.Context(), ID(1), first, next(t, s, "second"))
	require.NoError(t, err)

	late := fork.StartTurn(conversation.TurnStart{}, conversation.ChatRequest{Content: "late"})
	err = late.Build(func(events []*conversation.Event) error {
		_, err := j.Append(t.Context(), ID(1), first, events)
		require.Empty(t, events[0].Commit)
		return err
	})
	require.ErrorIs(t, err, conversation.ErrHeadMoved)
	_, err = j.Append(t.Context(), ID(1), "", next(t, s, "blind"))
	require.ErrorIs(t, err, conversation.ErrHeadMoved, "no head is no permission")
	requireUnchanged(t, j, ID(1), head, s.Events()[:5])
}

func testAppendDense(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	for _, shift := range []int{-1, 1, 100} {
		group := []*conversation.Event{next(t, s, "second")[0].Clone()}
		group[0].Seq = 3 + shift
		_, err := j.Append(t.Context(), ID(1), head, group)
		require.Error(t, err, "seq %d behind 2", group[0].Seq)
	}
	requireUnchanged(t, j, ID(1), head, s.Events()[:3])
}

func testAppendMissing(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	_, err := j.Append(t.Context(), ID(2), head, next(t, s, "second"))
	require.ErrorIs(t, err, conversation.ErrNotFound)
}

func testAppendCancelled(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := j.Append(ctx, ID(1), head, next(t, s, "second"))
	require.ErrorIs(t, err, context.Canceled)
	requireUnchanged(t, j, ID(1), head, s.Events()[:3])
}

// testAppendRace lets writers append from one head at once, again and again:
// each round has exactly one winner, and the others' writes had no effect.
func testAppendRace(t *testing.T, j conversation.Journal) {
	const writers, rounds = 4, 5
	s, head := created(t, j, ID(1))
	want := s.Events()
	for round := range rounds {
		groups := make([][]*conversation.Event, writers)
		heads, errs := make([]conversation.Head, writers), make([]error, writers)
		var all sync.WaitGroup
		for w := range writers {
			stream := conversation.JoinTail(conversation.SplitTail(slices.Clone(want)))
			stream.SetClock(Clock())
			turn := stream.StartTurn(conversation.TurnStart{}, conversation.ChatRequest{Content: fmt.Sprint(round, w)})
			require.NoError(t, turn.Build(Store))
			groups[w] = stream.Events()[len(want):]
			all.Go(func() { heads[w], errs[w] = j.Append(t.Context(), ID(1), head, groups[w]) })
		}
		all.Wait()
		winner := -1
		for w, err := range errs {
			if err == nil {
				require.Equal(t, -1, winner, "two writers took the same head")
				winner = w
				continue
			}
			require.True(t, errors.Is(err, conversation.ErrHeadMoved), "writer %d: %v", w, err)
		}
		require.GreaterOrEqual(t, winner, 0, "nobody could write")
		want = append(want[:len(want):len(want)], groups[winner]...)
		head = heads[winner]
		requireUnchanged(t, j, ID(1), head, want)
	}
}

func testDelete(t *testing.T, j conversation.Journal) {
	_, head := created(t, j, ID(1))
	other, otherHead := created(t, j, ID(2))
	require.NoError(t, j.Delete(t.Context(), ID(1), head))
	_, err := j.Head(t.Context(), ID(1))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Info(t.Context(), ID(1))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	require.ErrorIs(t, j.Delete(t.Context(), ID(1), head), conversation.ErrNotFound)
	requireUnchanged(t, j, ID(2), otherHead, other.Events())
}

func testDeleteMoved(t *testing.T, j conversation.Journal) {
	s, first := created(t, j, ID(1))
	head, err := j.Append(t.Context(), ID(1), first, next(t, s, "second"))
	require.NoError(t, err)
	require.ErrorIs(t, j.Delete(t.Context(), ID(1), first), conversation.ErrHeadMoved)
	requireUnchanged(t, j, ID(1), head, s.Events())
}
