package journaltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// unknownHead looks like the id of an event that does not exist.
const unknownHead conversation.Head = "0123456789abcdef0123456789abcdef01234567"

func testLoadOlder(t *testing.T, j conversation.Journal) {
	events := Sample(t).Events()
	create(t, j, ID(1), events)
	for _, n := range []int{1, 2, len(events) / 2, len(events)} {
		got, err := j.Load(t.Context(), conversation.Head(events[n-1].Commit))
		require.NoError(t, err)
		requireSame(t, events[:n], got)
	}
}

func testLoadCopies(t *testing.T, j conversation.Journal) {
	s, _ := created(t, j, ID(1))
	load(t, j, ID(1))[1].SetText("changed by a reader")
	requireSame(t, s.Events(), load(t, j, ID(1)))
}

func testLoadMissing(t *testing.T, j conversation.Journal) {
	created(t, j, ID(1))
	_, err := j.Load(t.Context(), unknownHead)
	require.ErrorIs(t, err, conversation.ErrNotFound)
}

func testBack(t *testing.T, j conversation.Journal) {
	events := Sample(t).Events()
	head := create(t, j, ID(1), events)
	var got []*conversation.Event
	for e, err := range j.Backward(t.Context(), head) {
		require.NoError(t, err)
		got = append([]*conversation.Event{e}, got...)
		if len(got) == 3 {
			break
		}
	}
	requireSame(t, events[len(events)-3:], got)

	n := 0
	for e, err := range j.Backward(t.Context(), head) {
		require.NoError(t, err)
		n++
		require.Equal(t, len(events)-n, e.Seq)
	}
	require.Equal(t, len(events), n, "it ends behind the first event")
}

func testInfo(t *testing.T, j conversation.Journal) {
	s := Sample(t)
	head := create(t, j, ID(1), s.Events())
	info, err := j.Info(t.Context(), ID(1))
	require.NoError(t, err)
	require.Equal(t, ID(1), info.ID)
	require.Empty(t, info.Remote)
	require.Equal(t, head, info.Head)
	require.NoError(t, info.Err)
	require.True(t, info.Tip.Signed)
	requireSameEvent(t, s.Stream.Last(), info.Tip)
	requireSummary(t, conversation.Summarize(s.Events()), info.Summary)
	requireSummary(t, conversation.Summarize(load(t, j, ID(1))), info.Summary)
	require.Equal(t, conversation.StatusInput, info.Summary.Status)
}

func requireSummary(t tester, want, got conversation.Summary) {
	t.Helper()
	wantLine, err := conversation.EncodeSummary(want)
	require.NoError(t, err)
	gotLine, err := conversation.EncodeSummary(got)
	require.NoError(t, err)
	require.Equal(t, string(wantLine), string(gotLine))
}

func testList(t *testing.T, j conversation.Journal) {
	require.Empty(t, listed(t, j, conversation.ScopeLive))
	for n := range 3 {
		created(t, j, ID(n))
	}
	require.ElementsMatch(t, []conversation.ID{ID(0), ID(1), ID(2)}, listed(t, j, conversation.ScopeLive))
	require.Empty(t, listed(t, j, conversation.ScopeArchived))
	require.Empty(t, listed(t, j, conversation.ScopeRemotes))
}

// listed returns the ids of a scope, after checking each Info.
func listed(t tester, j conversation.Journal, scope conversation.Scope) []conversation.ID {
	t.Helper()
	infos, err := j.List(t.Context(), scope)
	require.NoError(t, err)
	var ids []conversation.ID
	for _, info := range infos {
		require.NoError(t, info.Err)
		require.NotNil(t, info.Tip)
		require.Equal(t, string(info.Head), info.Tip.Commit)
		require.Equal(t, info.Tip.Seq+1, info.Summary.Events)
		ids = append(ids, info.ID)
	}
	return ids
}

func testVerify(t *testing.T, j conversation.Journal) {
	s := Sample(t)
	create(t, j, ID(1), s.Events())
	verdict, err := j.Verify(t.Context(), ID(1))
	require.NoError(t, err)
	require.Empty(t, verdict.Problems)
	require.True(t, verdict.OK())
	require.Equal(t, ID(1), verdict.ID)
	require.Equal(t, s.Stream.Len(), verdict.Events)
	require.True(t, verdict.Local)
}

func testMissing(t *testing.T, j conversation.Journal) {
	_, err := j.Head(t.Context(), ID(1))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Info(t.Context(), ID(1))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Verify(t.Context(), ID(1))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	require.ErrorIs(t, j.Delete(t.Context(), ID(1), unknownHead), conversation.ErrNotFound)
}
