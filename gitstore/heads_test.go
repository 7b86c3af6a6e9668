package gitstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/journaltest"
)

// A watched store has a repository with a name, and notes the heads that it sees.
type watched struct {
	*fixture
	notes string
	name  string
}

func newWatched(t *testing.T) *watched {
	w := &watched{fixture: newFixture(t), notes: filepath.Join(t.TempDir(), "heads"), name: "here"}
	w.Store = w.open()
	return w
}

// open is a store of another process.
func (w *watched) open() *gitstore.Store {
	w.t.Helper()
	return openStore(w.t, w.dir, gitstore.Options{
		Durability: odb.Off, HeadsDir: w.notes, Repository: func(bool) (string, error) { return w.name, nil },
	})
}

func (w *watched) note(n int) string {
	return filepath.Join(w.notes, w.name, string(journaltest.ID(n)))
}

// standing is that of a conversation as another process finds it.
func (w *watched) standing(n int) conversation.Standing {
	w.t.Helper()
	s := w.open()
	head, err := s.Head(w.t.Context(), journaltest.ID(n))
	require.NoError(w.t, err)
	events, err := s.Load(w.t.Context(), head)
	require.NoError(w.t, err)
	standing, err := s.Standing(w.t.Context(), journaltest.ID(n), head, events)
	require.NoError(w.t, err)
	verdict, err := s.Verify(w.t.Context(), journaltest.ID(n))
	require.NoError(w.t, err)
	require.Equal(w.t, standing, verdict.Standing)
	if standing == conversation.StandingRolledBack {
		require.Contains(w.t, verdict.Problems[len(verdict.Problems)-1].Text, "its ref was set back")
	}
	return standing
}

func (w *watched) add(head conversation.Head, seq int) conversation.Head {
	w.t.Helper()
	title := "a title"
	e := &conversation.Event{Seq: seq, Turn: 1, Version: 1, Time: time.Unix(1752933600, 0).UTC(), Body: &conversation.Metadata{Title: &title}}
	head, err := w.Append(w.t.Context(), journaltest.ID(1), head, []*conversation.Event{e})
	require.NoError(w.t, err)
	return head
}

func TestAHeadIsSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(w *watched, heads []conversation.Head)
		want   conversation.Standing
	}{
		"nothing happened": {func(*watched, []conversation.Head) {}, conversation.StandingOwn},
		"set back by one": {func(w *watched, heads []conversation.Head) {
			w.git("update-ref", refs+string(journaltest.ID(1)), string(heads[1]))
		}, conversation.StandingRolledBack},
		"set back to its start": {func(w *watched, heads []conversation.Head) {
			w.git("update-ref", refs+string(journaltest.ID(1)), string(heads[0]))
		}, conversation.StandingRolledBack},
		"deleted and made anew, older": {func(w *watched, heads []conversation.Head) {
			require.NoError(w.t, w.Delete(w.t.Context(), journaltest.ID(1), heads[2]))
			w.git("update-ref", refs+string(journaltest.ID(1)), string(heads[1]))
		}, conversation.StandingRolledBack},
		"deleted and brought back": {func(w *watched, heads []conversation.Head) {
			require.NoError(w.t, w.Delete(w.t.Context(), journaltest.ID(1), heads[2]))
			w.git("update-ref", refs+string(journaltest.ID(1)), string(heads[2]))
		}, conversation.StandingOwn},
		"set back, and accepted": {func(w *watched, heads []conversation.Head) {
			w.git("update-ref", refs+string(journaltest.ID(1)), string(heads[1]))
			require.NoError(w.t, w.AcceptHead(journaltest.ID(1), heads[1]))
		}, conversation.StandingOwn},
		"killed before the note": {func(w *watched, heads []conversation.Head) {
			require.NoError(w.t, os.WriteFile(w.note(1), []byte(heads[1]+"\n"), 0o600))
		}, conversation.StandingOwn},
		"killed before the first note": {func(w *watched, _ []conversation.Head) {
			require.NoError(w.t, os.Remove(w.note(1)))
		}, conversation.StandingOwn},
		"a power cut left an empty note": {func(w *watched, _ []conversation.Head) {
			require.NoError(w.t, os.Truncate(w.note(1), 0))
		}, conversation.StandingOwn},
		"a power cut left a part of a note": {func(w *watched, _ []conversation.Head) {
			require.NoError(w.t, os.Truncate(w.note(1), 20))
		}, conversation.StandingOwn},
		"set back after a kill": {func(w *watched, heads []conversation.Head) {
			require.NoError(w.t, os.WriteFile(w.note(1), []byte(heads[1]+"\n"), 0o600))
			w.git("update-ref", refs+string(journaltest.ID(1)), string(heads[0]))
		}, conversation.StandingRolledBack},
		"packed": {func(w *watched, _ []conversation.Head) {
			w.git("repack", "-adq")
			w.git("pack-refs", "--all")
		}, conversation.StandingOwn},
		"archived": {func(w *watched, heads []conversation.Head) {
			e := &conversation.Event{Seq: 3, Turn: 1, Version: 1, Time: time.Unix(1752933600, 0).UTC(), Body: &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{}}}
			_, err := w.Archive(w.t.Context(), journaltest.ID(1), heads[2], e, true)
			require.NoError(w.t, err)
		}, conversation.StandingOwn},
		"in another repository": {func(w *watched, _ []conversation.Head) { w.name = "there" }, conversation.StandingElsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t)
			events := say("first")
			heads := []conversation.Head{w.create(1, events)}
			heads = append(heads, w.add(heads[0], 1))
			heads = append(heads, w.add(heads[1], 2))
			require.Equal(t, "here", events[0].Home.Repo)
			tt.change(w, heads)
			require.Equal(t, tt.want, w.standing(1))
		})
	}
}

func TestForeignIsForeignWhateverWasSeen(t *testing.T) {
	w := newWatched(t)
	w.create(1, say("first"))
	head := w.rewrite(1, func(commit string) string { return strings.Replace(commit, "first", "First", 1) })
	require.NoError(t, w.AcceptHead(journaltest.ID(1), head))
	require.Equal(t, conversation.StandingForeign, w.standing(1))
}

func TestANoteThatCannotBeWrittenKeepsNothingFromBeingRecorded(t *testing.T) {
	w := newWatched(t)
	require.NoError(t, os.WriteFile(w.notes, nil, 0o600)) // a file in place of the folder
	head := w.create(1, say("first"))
	w.add(head, 1)
}

// A conversation that another program deleted is gone. One that jp deleted is not reported, and can come
// back.
func TestGone(t *testing.T) {
	w := newWatched(t)
	id := journaltest.ID(1)
	gone := func() (head conversation.Head) {
		t.Helper()
		w.Store = w.open()
		head, _, err := w.SeenRefs().Gone(id)
		require.NoError(t, err)
		return head
	}
	require.Empty(t, gone(), "it was never there")
	first := w.create(1, say("first"))
	require.Empty(t, gone(), "it is there")
	w.git("update-ref", "-d", refs+string(id))
	require.Equal(t, first, gone())
	w.git("update-ref", "refs/jp/archive/"+string(id), string(first))
	require.Empty(t, gone(), "it is in the archive")
	w.git("update-ref", "-d", "refs/jp/archive/"+string(id))
	w.git("update-ref", refs+string(id), string(first))
	w.Store = w.open()
	require.NoError(t, w.Delete(t.Context(), id, first))
	require.Empty(t, gone(), "jp deleted it")
	w.git("update-ref", refs+string(id), string(first))
	w.Store = w.open()
	second := w.add(first, 1)
	w.git("update-ref", "-d", refs+string(id))
	require.Equal(t, second, gone(), "it had come back")
	_, there, err := w.SeenRefs().Gone(id)
	require.NoError(t, err)
	require.True(t, there)
}

func TestStoresThatNoteBesideEachOther(t *testing.T) {
	w := newWatched(t)
	head := w.create(1, say("first"))
	other := w.open()
	for seq := 1; seq < 8; seq += 2 {
		head = w.add(head, seq)
		mine := w.Store
		w.Store = other
		head = w.add(head, seq+1)
		w.Store = mine
		require.Equal(t, conversation.StandingOwn, w.standing(1))
		seen, there, err := w.SeenHead(journaltest.ID(1))
		require.NoError(t, err)
		require.True(t, there)
		require.Equal(t, head, seen)
	}
}

// A head that was read before another process appended does not count as set back.
func TestAHeadThatWasReadBeforeAnAppend(t *testing.T) {
	w := newWatched(t)
	first := w.create(1, say("first"))
	reader := w.open()
	events, err := reader.Load(t.Context(), first)
	require.NoError(t, err)
	second := w.add(first, 1)
	w.add(second, 2)
	standing := func() conversation.Standing {
		t.Helper()
		standing, err := reader.Standing(t.Context(), journaltest.ID(1), first, events)
		require.NoError(t, err)
		return standing
	}
	require.Equal(t, conversation.StandingOwn, standing())
	w.git("update-ref", refs+string(journaltest.ID(1)), string(second))
	require.Equal(t, conversation.StandingRolledBack, standing(), "it was set back since")
}
