package journaltest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// origin is the event that a fork of events begins its own life with.
func origin(id conversation.ID, events []*conversation.Event) *conversation.Event {
	last := events[len(events)-1]
	return &conversation.Event{
		Seq: last.Seq + 1, Turn: last.Turn, Time: last.Time.Add(time.Minute), Version: conversation.Version,
		Body: &conversation.ForkOrigin{Conversation: id, Seq: last.Seq, Commit: last.Commit},
	}
}

func testFork(t *testing.T, j conversation.Journal) {
	events := Sample(t).Events()
	head := create(t, j, ID(1), events)
	for i, n := range []int{1, 4, len(events)} {
		o := origin(ID(1), events[:n])
		forked, err := j.Fork(t.Context(), ID(1), conversation.Head(events[n-1].Commit), ID(10+i), o)
		require.NoError(t, err)
		require.Equal(t, string(forked), o.Commit)
		got := load(t, j, ID(10+i))
		requireSame(t, append(events[:n:n], o), got)
		require.Equal(t, events[n-1].Commit, got[n-1].Commit, "the events are the source's own")
		require.Equal(t, events[n-1].Tree, o.Tree)

		info, err := j.Info(t.Context(), ID(10+i))
		require.NoError(t, err)
		require.Equal(t, &conversation.ForkPoint{Conversation: ID(1), Seq: n - 1}, info.Summary.Fork)
	}
	requireUnchanged(t, j, ID(1), head, events)
	require.Len(t, listed(t, j, conversation.ScopeLive), 4)
}

func testForkOfFork(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	first := origin(ID(1), s.Events())
	forked, err := j.Fork(t.Context(), ID(1), head, ID(2), first)
	require.NoError(t, err)
	events := load(t, j, ID(2))
	second := origin(ID(2), events)
	_, err = j.Fork(t.Context(), ID(2), forked, ID(3), second)
	require.NoError(t, err)
	requireSame(t, append(events, second), load(t, j, ID(3)))
	requireUnchanged(t, j, ID(1), head, s.Events())
	requireUnchanged(t, j, ID(2), forked, events)
	verdict, err := j.Verify(t.Context(), ID(3))
	require.NoError(t, err)
	require.True(t, verdict.OK(), "%v", verdict.Problems)
}

func testForkRefusals(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	other, otherHead := created(t, j, ID(2))
	_, err := j.Fork(t.Context(), ID(1), head, ID(2), origin(ID(1), s.Events()))
	require.ErrorIs(t, err, conversation.ErrExists)
	requireUnchanged(t, j, ID(2), otherHead, other.Events())
	_, err = j.Fork(t.Context(), ID(8), head, ID(9), origin(ID(8), s.Events()))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Fork(t.Context(), ID(1), unknownHead, ID(9), origin(ID(1), s.Events()))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Head(t.Context(), ID(9))
	require.ErrorIs(t, err, conversation.ErrNotFound)
}

// testForkResume forks an incomplete turn; both copies answer its question in
// their own way.
func testForkResume(t *testing.T, j conversation.Journal) {
	s := Sample(t)
	head := create(t, j, ID(1), s.Events())
	_, err := j.Fork(t.Context(), ID(1), head, ID(2), origin(ID(1), s.Events()))
	require.NoError(t, err)
	for id, word := range map[conversation.ID]string{ID(1): conversation.AnswerDeliver, ID(2): conversation.AnswerWithhold} {
		stream := conversation.JoinTail(conversation.SplitTail(load(t, j, id)))
		live := stream.Tail().Live()
		require.Len(t, live, 1)
		at, err := j.Head(t.Context(), id)
		require.NoError(t, err)
		turn := stream.CurrentTurn().AddInquiryResponse(conversation.InquiryResponse{
			For: live[0].Event.Seq, Outcome: conversation.OutcomeAnswered, Answer: []byte(`"` + word + `"`), By: conversation.ByUser,
		})
		require.NoError(t, turn.Build(func(events []*conversation.Event) error {
			_, err := j.Append(t.Context(), id, at, events)
			return err
		}))
		requireSame(t, stream.Events(), load(t, j, id))
		require.Equal(t, conversation.PhaseStreaming, stream.Tail().Phase())
	}
}

// archiving is the record of an archived conversation, or of one that is taken
// back.
func archiving(s *Script, at time.Time) *conversation.Event {
	return archivingBehind(s.Stream.Last(), at)
}

func archivingBehind(last *conversation.Event, at time.Time) *conversation.Event {
	return &conversation.Event{
		Seq: last.Seq + 1, Turn: last.Turn, Time: last.Time.Add(time.Minute), Version: conversation.Version,
		Body: &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{Time: at}},
	}
}

func testArchive(t *testing.T, j conversation.Journal) {
	s, head := created(t, j, ID(1))
	record := archiving(s, s.Stream.Last().Time)
	archived, err := j.Archive(t.Context(), ID(1), head, record, true)
	require.NoError(t, err)
	require.NotEqual(t, head, archived)
	require.Empty(t, listed(t, j, conversation.ScopeLive))
	require.Equal(t, []conversation.ID{ID(1)}, listed(t, j, conversation.ScopeArchived))
	want := append(s.Events()[:3:3], record)
	requireUnchanged(t, j, ID(1), archived, want)
	info, err := j.Info(t.Context(), ID(1))
	require.NoError(t, err)
	require.NotNil(t, info.Summary.ArchivedAt)
	_, err = j.Create(t.Context(), ID(1), "", Turn(t, "other", "words"))
	require.ErrorIs(t, err, conversation.ErrExists, "an archived id is taken")
	_, err = j.Archive(t.Context(), ID(1), archived, archivingBehind(record, record.Time), true)
	require.ErrorIs(t, err, conversation.ErrNotFound, "it is archived already")

	back := archiving(s, time.Time{})
	back.Seq++
	live, err := j.Archive(t.Context(), ID(1), archived, back, false)
	require.NoError(t, err)
	require.Equal(t, []conversation.ID{ID(1)}, listed(t, j, conversation.ScopeLive))
	require.Empty(t, listed(t, j, conversation.ScopeArchived))
	requireUnchanged(t, j, ID(1), live, append(want, back))
	info, err = j.Info(t.Context(), ID(1))
	require.NoError(t, err)
	require.Nil(t, info.Summary.ArchivedAt)
}

func testArchiveMoved(t *testing.T, j conversation.Journal) {
	s, first := created(t, j, ID(1))
	head, err := j.Append(t.Context(), ID(1), first, next(t, s, "second"))
	require.NoError(t, err)
	_, err = j.Archive(t.Context(), ID(1), first, archiving(s, s.Stream.Last().Time), true)
	require.ErrorIs(t, err, conversation.ErrHeadMoved)
	require.Equal(t, []conversation.ID{ID(1)}, listed(t, j, conversation.ScopeLive))
	requireUnchanged(t, j, ID(1), head, s.Events())
}

// testSlices forks at every event, and copies from every event on: each loads as its own events, with the
// incomplete turn that the cut leaves, and the source never changes.
func testSlices(t *testing.T, j conversation.Journal) {
	head := create(t, j, ID(1), Sample(t).Events())
	events := load(t, j, ID(1))
	next := 2
	check := func(cut conversation.Range) {
		kept := conversation.Select(events, cut)
		if len(kept) == 0 { // responses alone
			return
		}
		_, tail := conversation.SplitTail(kept)
		id, o := ID(next), origin(ID(1), kept)
		next++
		var err error
		if cut.Prefix() {
			_, err = j.Fork(t.Context(), ID(1), conversation.Head(kept[len(kept)-1].Commit), id, o)
		} else {
			_, err = j.Create(t.Context(), id, "", append(kept, o))
		}
		require.NoError(t, err)
		got := load(t, j, id)
		_, gotTail := conversation.SplitTail(got)
		require.Equal(t, tail == nil || tail.Empty(), gotTail == nil || gotTail.Empty())
		if tail != nil && !tail.Empty() {
			require.Equal(t, tail.Status(), gotTail.Status())
			require.Equal(t, tail.First(), gotTail.First())
		}
		require.Len(t, got, len(kept)+1)
		verdict, err := j.Verify(t.Context(), id)
		require.NoError(t, err)
		require.True(t, verdict.OK(), "%v: %v", cut, verdict.Problems)
	}
	for n := range events {
		check(conversation.Range{Until: &n})
		check(conversation.Range{From: &n, Last: 9})
	}
	check(conversation.Range{Last: 1})
	check(conversation.Range{First: 1, Last: 1})
	requireUnchanged(t, j, ID(1), head, events)
}
