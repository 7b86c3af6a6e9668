package journaltest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// Run checks that journals made by open keep the contract of [conversation.Journal]. Each test opens an empty
// one of its own.
func Run(t *testing.T, open func(t *testing.T) conversation.Journal) {
	groups := []struct {
		name string
		test func(t *testing.T, j conversation.Journal)
	}{
		{"Create/loads back", testCreate},
		{"Create/taken id", testCreateTaken},
		{"Create/first seq is 0", testCreateGap},
		{"Append/grows", testAppend},
		{"Append/group is atomic", testAppendGroup},
		{"Append/moved head writes nothing", testAppendMoved},
		{"Append/seq is dense", testAppendDense},
		{"Append/no such conversation", testAppendMissing},
		{"Append/cancelled context writes nothing", testAppendCancelled},
		{"Append/one of many wins", testAppendRace},
		{"Load/older head", testLoadOlder},
		{"Load/readers share nothing", testLoadCopies},
		{"Load/no such head", testLoadMissing},
		{"Back/stops early", testBack},
		{"Content/every kind of text", testTexts},
		{"Content/payloads", testPayloads},
		{"Content/unknown survives", testUnknown},
		{"Content/numbers and times", testEnvelope},
		{"Info/summary", testInfo},
		{"List/scopes", testList},
		{"Fork/shares the prefix", testFork},
		{"Fork/of a fork", testForkOfFork},
		{"Fork/refusals", testForkRefusals},
		{"Fork/both go on", testForkResume},
		{"Fork/at every event", testSlices},
		{"Archive/and back", testArchive},
		{"Archive/moved head", testArchiveMoved},
		{"Delete/is gone", testDelete},
		{"Delete/moved head", testDeleteMoved},
		{"Verify/healthy", testVerify},
		{"Missing/everything", testMissing},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) { g.test(t, open(t)) })
	}
}

// ID is the n-th of a row of valid ids.
func ID(n int) conversation.ID {
	return conversation.ID(fmt.Sprintf("jp-c17528832%03d-k3f9", n))
}

func create(t *testing.T, j conversation.Journal, id conversation.ID, events []*conversation.Event) conversation.Head {
	t.Helper()
	head, err := j.Create(t.Context(), id, "", events)
	require.NoError(t, err)
	require.NotEmpty(t, head)
	return head
}

// created stores a first turn, and returns the script behind which it goes on.
func created(t *testing.T, j conversation.Journal, id conversation.ID) (*Script, conversation.Head) {
	t.Helper()
	s := NewScript(t).Turn("first").Says("answer")
	return s, create(t, j, id, s.Events())
}

// next is a group of events that may come behind the script's.
func next(t *testing.T, s *Script, request string) []*conversation.Event {
	t.Helper()
	from := s.Stream.Len()
	s.Turn(request)
	return s.Events()[from:]
}

// tester is the part of a test that the helpers of both the suite and the model check need.
type tester interface {
	require.TestingT
	Helper()
	Context() context.Context
}

func load(t tester, j conversation.Journal, id conversation.ID) []*conversation.Event {
	t.Helper()
	head, err := j.Head(t.Context(), id)
	require.NoError(t, err)
	events, err := j.Load(t.Context(), head)
	require.NoError(t, err)
	return events
}

// requireSame asserts that stored events are those that were given.
func requireSame(t tester, want, got []*conversation.Event) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		requireSameEvent(t, want[i], got[i])
	}
}

func requireSameEvent(t tester, want, got *conversation.Event) {
	t.Helper()
	require.Equal(t, header(t, want), header(t, got))
	text, has := want.Text()
	gotText, gotHas := got.Text()
	require.Equal(t, has, gotHas)
	require.True(t, text == gotText, "text of event %d: want %.80q (%d bytes), got %.80q (%d bytes)",
		want.Seq, text, len(text), gotText, len(gotText))
	if len(want.Provider) > 0 {
		require.JSONEq(t, string(want.Provider), string(got.Provider))
	} else {
		require.Empty(t, got.Provider)
	}
	require.NotEmpty(t, got.Commit)
	require.NotEmpty(t, got.Tree)
	require.NotEmpty(t, got.Author)
	if want.Commit != "" {
		require.Equal(t, want.Commit, got.Commit)
		require.Equal(t, want.Tree, got.Tree)
	}
}

// header is the part of an event that a store must keep.
func header(t tester, e *conversation.Event) string {
	t.Helper()
	c := e.Clone()
	c.Payloads, c.Lossy = nil, false // how a text is stored is the store's affair
	line, err := conversation.EncodeHeader(c, conversation.NoText)
	require.NoError(t, err)
	return string(line)
}

// requireUnchanged asserts that a conversation is as it was at a head.
func requireUnchanged(t tester, j conversation.Journal, id conversation.ID, head conversation.Head, want []*conversation.Event) {
	t.Helper()
	now, err := j.Head(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, head, now)
	requireSame(t, want, load(t, j, id))
}
