package gitstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

// state is all that git knows of a repository.
func (f *fixture) state() string {
	f.t.Helper()
	return f.git("for-each-ref") + "\n" + f.git("cat-file", "--batch-all-objects", "--batch-check")
}

// carrying are events of which the last one has payload.
func carrying(from int) []*conversation.Event {
	group := long(3)
	for i, e := range group {
		e.Seq = from + i
	}
	group[2].Payloads = []conversation.Payload{{Name: "note.txt", MediaType: "text/plain", Data: []byte("a note")}}
	return group
}

func TestTransientRecordsNothing(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t)
	head := f.create(1, long(4))
	before := f.state()
	j := f.Transient()

	recorded, passing := f.again(), carrying(4)
	taken, err := j.Append(ctx, journaltest.ID(1), head, passing)
	require.NoError(t, err)
	require.NotEqual(t, head, taken)
	more := long(2)
	more[0].Seq, more[1].Seq = 7, 8
	_, err = j.Append(ctx, journaltest.ID(1), taken, more)
	require.NoError(t, err, "behind what was taken")
	_, err = j.Append(ctx, journaltest.ID(1), head, long(5)[4:])
	require.NoError(t, err, "and behind what is recorded once more")
	fresh := long(1)
	fresh[0].Time = fresh[0].Time.Add(time.Hour)
	first, err := j.Create(ctx, journaltest.ID(2), "", fresh)
	require.NoError(t, err)
	_, err = j.Head(ctx, journaltest.ID(2))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = f.Load(ctx, first)
	require.ErrorIs(t, err, conversation.ErrNotFound)
	require.Equal(t, before, f.state())

	// The events are as if they had been recorded, but for the hashes that name them.
	same := carrying(4)
	_, err = recorded.Append(ctx, journaltest.ID(1), head, same)
	require.NoError(t, err)
	for i, e := range same {
		require.NotEmpty(t, e.Commit)
		require.Empty(t, passing[i].Commit)
		require.Empty(t, passing[i].Tree)
		e.Commit, e.Tree = "", ""
		require.Equal(t, e, passing[i])
	}
}

func TestTransientReadsWhatIsThere(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t)
	group := carrying(0)
	head := f.create(1, group)
	kept := group[2].Payloads[0]
	j := f.Transient()

	events, err := j.Load(ctx, head)
	require.NoError(t, err)
	require.Len(t, events, 3)
	data, there, err := j.Payload(ctx, kept)
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, "a note", string(data))

	passing := long(1)
	passing[0].Seq = 3
	passing[0].Payloads = []conversation.Payload{{Name: "other.txt", MediaType: "text/plain", Data: []byte("other")}}
	_, err = j.Append(ctx, journaltest.ID(1), head, passing)
	require.NoError(t, err)
	data, there, err = j.Payload(ctx, passing[0].Payloads[0])
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, "other", string(data))
	_, there, err = f.Payload(ctx, passing[0].Payloads[0])
	require.NoError(t, err)
	require.False(t, there, "it is in no repository")
}

func TestTransientRefuses(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t)
	head := f.create(1, long(2))
	before := f.state()
	j := f.Transient()
	record := long(3)[2]
	_, err := j.Fork(ctx, journaltest.ID(1), head, journaltest.ID(2), record)
	require.ErrorIs(t, err, gitstore.ErrTransient)
	_, err = j.Archive(ctx, journaltest.ID(1), head, record, true)
	require.ErrorIs(t, err, gitstore.ErrTransient)
	require.ErrorIs(t, j.Delete(ctx, journaltest.ID(1), head), gitstore.ErrTransient)

	gap := long(6)[5:]
	_, err = j.Append(ctx, journaltest.ID(1), head, gap)
	require.Error(t, err, "an event that cannot follow")
	_, err = j.Append(ctx, journaltest.ID(1), "0123456789012345678901234567890123456789", long(3)[2:])
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Create(ctx, journaltest.ID(2), "", nil)
	require.Error(t, err)
	require.Equal(t, before, f.state())
}
