package gitstore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

// twice is the conversation 1 with two refs: one head reaches the other, or each has an event of its own.
func (f *fixture) twice(apart bool) (id conversation.ID, live, archived conversation.Head) {
	f.t.Helper()
	id = journaltest.ID(1)
	live = f.create(1, say("x", "y"))
	archived, err := f.Archive(f.t.Context(), id, live, moving(2, when), true)
	require.NoError(f.t, err)
	f.git("update-ref", gitstore.RefOf(id), string(live))
	if apart {
		f.git("update-ref", "-d", "refs/jp/archive/"+string(id))
		again := f.again()
		now, err := again.Append(f.t.Context(), id, live, say("x", "y", "z")[2:])
		require.NoError(f.t, err)
		live = now
		f.git("update-ref", "refs/jp/archive/"+string(id), string(archived))
	}
	return id, live, archived
}

func (f *fixture) listedIn(scope conversation.Scope) (refs []string) {
	f.t.Helper()
	infos, err := f.List(f.t.Context(), scope)
	require.NoError(f.t, err)
	for _, i := range infos {
		require.NoError(f.t, i.Err)
		refs = append(refs, i.Ref)
	}
	slices.Sort(refs)
	return refs
}

// The head that reaches the other is the conversation, in either scope, also for a writer.
func TestTheNewerOfTwoRefsIsTheConversation(t *testing.T) {
	f := newFixture(t)
	id, stale, head := f.twice(false)
	f.create(2, say("bystander"))
	again := f.again()
	info, err := again.Info(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "refs/jp/archive/"+string(id), info.Ref)
	require.Equal(t, head, info.Head)
	require.Equal(t, []string{gitstore.RefOf(journaltest.ID(2))}, again.listedIn(conversation.ScopeLive))
	require.Equal(t, []string{info.Ref}, again.listedIn(conversation.ScopeArchived))
	second := must(again.DuplicateOf(id))
	require.Equal(t, &gitstore.Duplicate{ID: id, Ref: gitstore.RefOf(id), Head: stale}, second)
	require.Equal(t, []gitstore.Duplicate{*second}, must(again.Duplicates()))
	again.verified(1)

	_, err = again.Append(t.Context(), id, stale, say("x", "y", "z")[2:])
	require.ErrorIs(t, err, conversation.ErrHeadMoved)
	head, err = again.Append(t.Context(), id, head, say("x", "y", "z", "w")[3:])
	require.NoError(t, err)
	require.Equal(t, string(head), f.git("rev-parse", info.Ref))
	require.Equal(t, head, must(again.Head(t.Context(), id)))

	back, err := f.again().Archive(t.Context(), id, head, moving(4, time.Time{}), false)
	require.NoError(t, err)
	require.Equal(t, gitstore.RefOf(id)+" "+string(back), f.git("for-each-ref", "--format=%(refname) %(objectname)", gitstore.RefOf(id), "refs/jp/archive"))
	events, err := f.again().load(1)
	require.NoError(t, err)
	require.Len(t, events, 5)
}

// If each has events of its own, jp removes neither, and checks both.
func TestTwoRefsThatWentDifferentWays(t *testing.T) {
	f := newFixture(t)
	id, live, archived := f.twice(true)
	twice := &gitstore.DuplicateIDError{ID: id, Live: live, Archived: archived}
	again := f.again()
	require.Equal(t, live, must(again.Head(t.Context(), id)))
	require.Equal(t, []string{gitstore.RefOf(id)}, again.listedIn(conversation.ScopeLive))
	require.Empty(t, again.listedIn(conversation.ScopeArchived), "an id is in one scope")
	require.Equal(t, []gitstore.Duplicate{{ID: id, Ref: "refs/jp/archive/" + string(id), Head: archived, Err: twice}}, must(again.Duplicates()))

	before := f.git("for-each-ref")
	_, endErr := again.EndMove(t.Context(), id)
	_, err := again.Archive(t.Context(), id, live, moving(3, when), true)
	_, backErr := again.Archive(t.Context(), id, live, moving(3, when), false)
	for _, err := range []error{endErr, err, backErr, again.Delete(t.Context(), id, live)} {
		require.Equal(t, twice, err)
	}
	require.Equal(t, before, f.git("for-each-ref"))
	problems := again.problems(1)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Text, "is there twice")

	bad := strings.Replace(string(f.raw(string(archived))), `"v":1`, `"v":`, 1)
	f.git("update-ref", "refs/jp/archive/"+string(id), f.put("commit", []byte(bad)))
	require.Len(t, f.again().problems(1), 2, "the archived one is damaged, too")
}

// In spite of an unreadable ref, jp reads the other one, and removes neither.
func TestASecondRefThatCannotBeRead(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, say("x"))
	id := journaltest.ID(1)
	broken := filepath.Join(f.dir, ".git/refs/jp/archive", string(id))
	require.NoError(t, os.MkdirAll(filepath.Dir(broken), 0o755))
	require.NoError(t, os.WriteFile(broken, []byte("rubbish\n"), 0o644))
	again := f.again()
	require.Equal(t, head, must(again.Head(t.Context(), id)))
	require.Equal(t, []string{gitstore.RefOf(id)}, again.listedIn(conversation.ScopeLive))
	require.ErrorIs(t, again.Delete(t.Context(), id, head), conversation.ErrDamaged)
	_, err := again.EndMove(t.Context(), id)
	require.ErrorIs(t, err, conversation.ErrDamaged)
}

// However often a conversation with two refs is looked for, the events between them
// are read once.
func TestWhatTwoRefsCost(t *testing.T) {
	f := newFixture(t)
	f.create(1, say("x"))
	id := journaltest.ID(2)
	head := f.create(2, say(make([]string, 50)...))
	first := must(f.Load(t.Context(), head))[0]
	cost := func() int {
		return reads(t, f.dir, func(s *gitstore.Store) {
			for range 10 {
				require.Len(t, must(s.Heads(conversation.ScopeLive)), 2)
				require.Equal(t, head, must(s.Head(t.Context(), id)))
			}
		})
	}
	one := cost()
	f.git("update-ref", "refs/jp/archive/"+string(id), first.Commit)
	objects := cost() - one
	require.GreaterOrEqual(t, objects, 50)
	require.Less(t, objects, 200)
}
