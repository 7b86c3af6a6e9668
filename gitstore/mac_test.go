package gitstore_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// Any changed byte of a signed commit breaks its signature.
func TestFlippedBytesAreNotSigned(t *testing.T) {
	f := newFixture(t)
	events := journaltest.Turn(t, "first", "answer")
	events[2].Provider = []byte(`{"api":"script"}`)
	head := f.create(1, events)
	commit := f.raw(string(head))
	batch := odb.Batch{}
	for i := range commit {
		for _, bit := range []byte{1 << (i % 8), 0x20} {
			flipped := append([]byte(nil), commit...)
			flipped[i] ^= bit
			batch.Objects = append(batch.Objects, odb.Object{Kind: "commit", OID: odb.HashObject(testFormat, "commit", flipped), Data: flipped})
		}
	}
	db, err := odb.Open(filepath.Join(f.dir, ".git"), odb.Options{Format: testFormat, Durability: odb.Off})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), batch))
	require.NoError(t, db.Close())

	accepted := 0
	for i, o := range batch.Objects {
		for e, err := range f.Backward(t.Context(), conversation.Head(o.OID)) {
			if err == nil {
				accepted++
				require.False(t, e.Signed, "byte %d of the commit", i/2)
			}
			break
		}
	}
	require.NotZero(t, accepted, "some flips leave an event, a foreign one")
	own, err := f.load(1)
	require.NoError(t, err)
	require.True(t, own[2].Signed)
}

func TestKeysTellUsersApart(t *testing.T) {
	f := newFixture(t)
	f.create(1, journaltest.Turn(t, "first", "answer"))
	own, err := f.load(1)
	require.NoError(t, err)
	require.True(t, conversation.Local(own))
	for _, key := range [][]byte{[]byte("another key, of thirty-two bytes"), {}} {
		other := openStore(t, f.dir, gitstore.Options{Durability: odb.Off, Key: key})
		got, err := other.Load(t.Context(), conversation.Head(own[2].Commit))
		require.NoError(t, err)
		for _, e := range got {
			require.False(t, e.Signed)
		}
		require.False(t, conversation.Local(got))
	}
}

func TestWithoutKeyNothingIsSigned(t *testing.T) {
	f := newFixture(t)
	s := openStore(t, f.dir, gitstore.Options{Durability: odb.Off, Key: []byte{}})
	head, err := s.Create(t.Context(), journaltest.ID(1), "", journaltest.Turn(t, "first", "answer"))
	require.NoError(t, err)
	require.NotContains(t, string(f.raw(string(head))), "jp-mac")
	got, err := f.load(1)
	require.NoError(t, err)
	require.False(t, got[2].Signed)
}

// A slice must not turn a stranger's events into this user's.
func TestCopiesAreSignedOnlyIfTheirSourceWas(t *testing.T) {
	f := newFixture(t)
	events := say("mine", "theirs")
	was := 5
	events[0].Was, events[0].Signed = &was, true
	events[1].Was, events[1].Signed = &was, false
	f.create(1, events)
	got, err := f.load(1)
	require.NoError(t, err)
	require.True(t, got[0].Signed)
	require.False(t, got[1].Signed)
}

var (
	stateLine = regexp.MustCompile(`\njp-state [^\n]*`)
	macLine   = regexp.MustCompile(`\njp-mac [^\n]*`)
)

// A foreign tip's summary is neither believed nor built on.
func TestForgedSummary(t *testing.T) {
	const forged = `{"created":"2001-01-01T00:00:00Z","events":1,"last_event_at":"2001-01-01T00:00:00Z","open":[{"name":"shell_run","seq":0}],"title":"forged"}`
	edits := map[string]func(string) string{
		"no code": func(c string) string {
			return macLine.ReplaceAllString(stateLine.ReplaceAllString(c, "\njp-state "+forged), "")
		},
		"old code":       func(c string) string { return stateLine.ReplaceAllString(c, "\njp-state "+forged) },
		"no summary":     func(c string) string { return stateLine.ReplaceAllString(c, "") },
		"not JSON":       func(c string) string { return stateLine.ReplaceAllString(c, "\njp-state nonsense") },
		"code of zeroes": func(c string) string { return macLine.ReplaceAllString(c, "\njp-mac "+strings.Repeat("0", 64)) },
	}
	f := newFixture(t)
	n := 0
	for name, edit := range edits {
		n++
		events := journaltest.Turn(t, "first", "answer")
		f.create(n, events)
		head := f.rewrite(n, edit)
		info, err := f.Info(t.Context(), journaltest.ID(n))
		require.NoError(t, err, name)
		require.False(t, info.Tip.Signed)
		require.Equal(t, conversation.Summarize(events), info.Summary, name)

		next := say("x", "x", "x", "the next")[3:]
		_, err = f.again().Append(t.Context(), journaltest.ID(n), head, next)
		require.NoError(t, err)
		info, err = f.again().Info(t.Context(), journaltest.ID(n))
		require.NoError(t, err)
		require.True(t, info.Tip.Signed)
		require.Equal(t, conversation.Summarize(append(events, next...)), info.Summary, "the next event heals it")
		f.verified(n)
	}
}

// A valid summary that is wrong is found: the chain wins.
func TestVerifyFindsWrongSummary(t *testing.T) {
	f := newFixture(t)
	s := journaltest.NewScript(t).Turn("first").Says("answer")
	f.create(1, s.Events())
	other := f.create(2, journaltest.NewScript(t).Turn("something else").Says("answer").Events())
	moved := strings.Replace(string(f.raw(string(other))), "\nparent "+f.git("rev-parse", string(other)+"^"), "\nparent "+f.git("rev-parse", refs+string(journaltest.ID(1))+"^"), 1)
	// Anybody with the key could sign this; here the key is the test's own.
	signed, err := gitstore.Sign([]byte(moved), []byte("0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	f.git("update-ref", refs+string(journaltest.ID(1)), f.put("commit", signed))
	found := f.problems(1)
	require.Len(t, found, 1)
	require.Contains(t, found[0].Text, "summary")
}

func TestVerifyFindsWrongTrees(t *testing.T) {
	f := newFixture(t)
	tree := f.git("rev-parse", "HEAD^{tree}")
	events := say("first", "second", "third")
	events[1].Tree = tree
	f.create(1, events)
	found := f.problems(1)
	require.Len(t, found, 1)
	require.Equal(t, events[1].Commit, found[0].Commit)
	require.Contains(t, found[0].Text, "tree")

	events = say("first", "second")
	events[0].Tree = strings.Repeat("1", testFormat.Digits())
	f.create(2, events)
	found = f.problems(2)
	require.Len(t, found, 1)
	require.Contains(t, found[0].Text, "missing")
}

// The writer of a conversation decides its rights: an own one may act, a fetched one may not, and an
// adopted fork may.
func TestLocalAndForeign(t *testing.T) {
	theirs := newFixture(t)
	s := journaltest.Sample(t)
	head := theirs.create(1, s.Events())
	ours := gitenv.Repo(t)
	gitenv.Git(t, ours, "fetch", "-q", theirs.dir, "refs/jp/conversations/*:refs/jp/remotes/o/*")
	store := openStore(t, ours, gitstore.Options{Durability: odb.Off, Key: []byte("another key, of thirty-two bytes")})

	fetched, err := store.Load(t.Context(), head)
	require.NoError(t, err)
	require.False(t, conversation.Local(fetched))
	_, err = store.Fork(t.Context(), journaltest.ID(1), head, journaltest.ID(2), say("x")[0])
	require.ErrorIs(t, err, conversation.ErrNotFound, "a remote's is not one of ours")

	gitenv.Git(t, ours, "update-ref", refs+string(journaltest.ID(1)), string(head))
	for adopted, id := range map[bool]conversation.ID{false: journaltest.ID(2), true: journaltest.ID(3)} {
		last := fetched[len(fetched)-1]
		origin := &conversation.Event{
			Seq: last.Seq + 1, Turn: last.Turn, Time: when,
			Body: &conversation.ForkOrigin{Conversation: journaltest.ID(1), Seq: last.Seq, Commit: last.Commit, Adopted: adopted},
		}
		forked, err := store.Fork(t.Context(), journaltest.ID(1), head, id, origin)
		require.NoError(t, err)
		got, err := store.Load(t.Context(), forked)
		require.NoError(t, err)
		require.Equal(t, adopted, conversation.Local(got))
	}
}

func TestErrorsAreJournalErrors(t *testing.T) {
	f := newFixture(t)
	_, err := f.Create(t.Context(), journaltest.ID(1), "not an object", say("x"))
	require.ErrorIs(t, err, odb.ErrOID)
	_, err = f.Create(t.Context(), journaltest.ID(1), f.git("rev-parse", "HEAD^{tree}"), say("x"))
	require.ErrorContains(t, err, "is a tree")
	_, err = f.Create(t.Context(), journaltest.ID(1), strings.Repeat("1", testFormat.Digits()), say("x"))
	require.True(t, errors.Is(err, odb.ErrObjectMissing))
	_, err = f.Head(t.Context(), journaltest.ID(1))
	require.ErrorIs(t, err, conversation.ErrNotFound)
}
