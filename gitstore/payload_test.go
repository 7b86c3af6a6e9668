package gitstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

func payloadRef(n int) string { return "refs/jp/payloads/" + string(journaltest.ID(n)) }

// attached is an event with one payload.
func attached(seq int, name string, data []byte) *conversation.Event {
	return &conversation.Event{
		Seq: seq, Turn: 1, Time: when, Body: &conversation.Note{Content: "see"},
		Payloads: []conversation.Payload{{Name: name, MediaType: "text/plain", Data: data}},
	}
}

func (f *fixture) payload(e *conversation.Event, name string) (string, bool) {
	f.t.Helper()
	data, ok, err := f.Payload(f.t.Context(), *e.Payload(name))
	require.NoError(f.t, err)
	return string(data), ok
}

func TestPayloadChain(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, []*conversation.Event{attached(0, "a.txt", []byte("one")), say("x", "y")[1]})
	_, err := f.Append(t.Context(), journaltest.ID(1), head, []*conversation.Event{
		attached(2, "../b", []byte("two")), attached(3, "c", nil), bigEvent(4, strings.Repeat("z\n", 50_000)),
	})
	require.NoError(t, err)
	require.Equal(t, "payload of event 4\npayload of event 3\npayload of event 2\npayload of event 0", f.git("log", "--format=%s", payloadRef(1)))
	require.Equal(t, "text", f.git("ls-tree", "--name-only", payloadRef(1)))
	require.Equal(t, "b", strings.Trim(f.git("ls-tree", "--name-only", payloadRef(1)+"~2"), "-"))
	require.Equal(t, "one", f.git("show", payloadRef(1)+"~3:a.txt"))
	got, err := f.again().load(1)
	require.NoError(t, err)
	empty, ok := f.payload(got[3], "c")
	require.True(t, ok, "an empty payload is one")
	require.Empty(t, empty)
	fsck(t, f.dir)
	f.verified(1)
	f.git("gc", "-q", "--prune=now")
	data, ok := f.payload(got[2], "../b")
	require.True(t, ok)
	require.Equal(t, "two", data)
}

// A payload ref that does not keep its payloads is damage, and so is a missing one if there are payloads.
func TestVerifyLooksAtThePayloadRef(t *testing.T) {
	f := newFixture(t)
	f.create(1, []*conversation.Event{attached(0, "a.txt", []byte("one"))})
	f.verified(1)
	file := filepath.Join(f.dir, ".git", payloadRef(1))
	for _, text := range []string{"", "garbage\n", strings.Repeat("a", 40) + "\n", "ref: refs/heads/nosuch\n"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		problems := f.again().problems(1)
		require.Len(t, problems, 1, text)
		require.Contains(t, problems[0].Text, "its payloads: "+payloadRef(1))
	}
	require.NoError(t, os.Remove(file))
	problems := f.again().problems(1)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Text, payloadRef(1)+" is gone")
}

// Keep keeps a payload again that lost its ref, as long as it is here.
func TestKeep(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, []*conversation.Event{attached(0, "a.txt", []byte("one")), attached(1, "b.txt", []byte("two"))})
	id := journaltest.ID(1)
	was := f.git("rev-parse", payloadRef(1)+"^{tree}")
	require.NoError(t, f.Keep(t.Context(), id, head))
	f.git("update-ref", "-d", payloadRef(1))
	f = f.again()
	require.NoError(t, f.Keep(t.Context(), id, head))
	require.Equal(t, was, f.git("rev-parse", payloadRef(1)+"^{tree}"))
	f.git("gc", "-q", "--prune=now")
	f.again().verified(1)
	head = f.create(2, say("x", "y"))
	require.NoError(t, f.Keep(t.Context(), journaltest.ID(2), head))
	require.Empty(t, f.git("for-each-ref", payloadRef(2)), "there is none to keep")
}

// Missing payload is lost if only this repository can have had it, else absent.
func TestLostPayload(t *testing.T) {
	tests := map[string]struct {
		also string // a ref that names the conversation, too
		fork bool   // it is a fork of that, whose new payload is gone, too
		lost int
	}{
		"only here":                          {"", false, 1},
		"fetched from a remote":              {"refs/jp/remotes/origin/" + string(journaltest.ID(1)), false, 0},
		"from one with slashes":              {"refs/jp/remotes/a/b/" + string(journaltest.ID(1)), false, 0},
		"another one was fetched":            {"refs/jp/remotes/origin/" + string(journaltest.ID(2)), false, 1},
		"its payload was, at some time":      {"refs/jp/remotes/origin/payloads/" + string(journaltest.ID(1)), false, 1},
		"a fork of what was fetched":         {"refs/jp/remotes/origin/" + string(journaltest.ID(1)), true, 1},
		"a fork of what is nowhere else":     {"", true, 2},
		"a fork, which was itself fetched":   {"refs/jp/remotes/origin/" + string(journaltest.ID(3)), true, 0},
		"a fork, something else was fetched": {"refs/jp/remotes/origin/" + string(journaltest.ID(4)), true, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			n := 1
			head := f.create(1, []*conversation.Event{attached(0, "a.txt", []byte("one"))})
			if tt.fork {
				n = 3
				origin := &conversation.Event{Seq: 1, Turn: 1, Time: when, Body: &conversation.ForkOrigin{Conversation: journaltest.ID(1), Commit: string(head)}}
				fork, err := f.Fork(t.Context(), journaltest.ID(1), head, journaltest.ID(3), origin)
				require.NoError(t, err)
				head, err = f.Append(t.Context(), journaltest.ID(3), fork, []*conversation.Event{attached(2, "b.txt", []byte("two"))})
				require.NoError(t, err)
				f.git("update-ref", "-d", payloadRef(1))
			}
			f.git("update-ref", "-d", payloadRef(n))
			f.git("gc", "-q", "--prune=now")
			if tt.also != "" {
				f.git("update-ref", tt.also, string(head))
			}
			v, err := f.again().Verify(t.Context(), journaltest.ID(n))
			require.NoError(t, err)
			require.Len(t, v.Problems, tt.lost)
			for _, p := range v.Problems {
				require.Contains(t, p.Text, "no fetched remote has this conversation")
			}
			all := 1
			if tt.fork {
				all = 2
			}
			require.Equal(t, all-tt.lost, v.Absent)
		})
	}
}

// Refs that keep fetched payload are no conversations.
func TestPayloadRefsOfRemotes(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, []*conversation.Event{attached(0, "a.txt", []byte("one"))})
	there, here := gitstore.PayloadRefs("team/origin", journaltest.ID(1))
	require.Equal(t, payloadRef(1), there)
	require.Equal(t, "refs/jp/remotes/team/origin/payloads/"+string(journaltest.ID(1)), here)
	f.git("update-ref", here, there)
	f.git("update-ref", "refs/jp/remotes/payloads/"+string(journaltest.ID(1)), string(head))
	heads, err := f.again().Heads(conversation.ScopeRemotes)
	require.NoError(t, err)
	require.Len(t, heads, 1)
	require.Equal(t, "payloads", heads[0].Remote, "a remote may have that name")
}

func TestPayloadNamesInTrees(t *testing.T) {
	names := []string{".git", "a/b", "a-b", "", "", "..", "2-a", "a", "a", "nul\x00", strings.Repeat("n", 5000), "\u202e", "GIT~1", "1-a"}
	e := attached(0, "first", []byte("first"))
	for i, name := range names {
		e.Payloads = append(e.Payloads, conversation.Payload{Name: name, Data: fmt.Append(nil, i)})
	}
	f := newFixture(t)
	f.create(1, []*conversation.Event{e})
	fsck(t, f.dir)
	require.Len(t, strings.Split(f.git("ls-tree", payloadRef(1)), "\n"), len(names)+1, "each has its place")
	got, err := f.load(1)
	require.NoError(t, err)
	for i, p := range got[0].Payloads[1:] {
		require.Equal(t, names[i], p.Name)
		data, ok, err := f.Payload(t.Context(), p)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, fmt.Sprint(i), string(data))
	}
}

func TestForkKeepsPayload(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, []*conversation.Event{attached(0, "a", []byte("kept"))})
	origin := attached(1, "b", []byte("of the fork"))
	origin.Body = &conversation.ForkOrigin{Conversation: journaltest.ID(1), Commit: string(head)}
	_, err := f.Fork(t.Context(), journaltest.ID(1), head, journaltest.ID(2), origin)
	require.NoError(t, err)
	require.NoError(t, f.Delete(t.Context(), journaltest.ID(1), head))
	require.NotContains(t, f.git("for-each-ref"), payloadRef(1), "deleting a conversation deletes its payload's ref")
	f.git("gc", "-q", "--prune=now")
	got, err := f.again().load(2)
	require.NoError(t, err)
	for i, want := range []string{"kept", "of the fork"} {
		data, ok := f.payload(got[i], string("ab"[i]))
		require.True(t, ok)
		require.Equal(t, want, data)
	}
	f.verified(2)
}

// The source of a fork may be a conversation that was fetched: then no ref here keeps its events' payloads.
func TestForkOfWhatWasFetchedKeepsThePayloadThatIsHere(t *testing.T) {
	f := newFixture(t)
	gone := attached(2, "gone", []byte("never fetched"))
	head := f.create(1, []*conversation.Event{
		attached(0, "a", []byte("kept")), say("x", "y")[1], gone, bigEvent(3, strings.Repeat("z\n", 50_000)),
	})
	f.git("update-ref", "refs/jp/remotes/origin/"+string(journaltest.ID(1)), string(head))
	f.git("update-ref", "-d", refs+string(journaltest.ID(1)))
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git", "objects", gone.Payloads[0].OID[:2], gone.Payloads[0].OID[2:])))
	f = f.again()
	origin := attached(4, "b", []byte("of the fork"))
	origin.Body = &conversation.ForkOrigin{Conversation: journaltest.ID(1), Commit: string(head)}
	_, err := f.Fork(t.Context(), "", head, journaltest.ID(2), origin)
	require.NoError(t, err)
	require.Equal(t, "payload of event 4\npayload of event 3\npayload of event 0", f.git("log", "--format=%s", payloadRef(2)))
	f.git("update-ref", "-d", payloadRef(1))
	f.git("update-ref", "-d", "refs/jp/remotes/origin/"+string(journaltest.ID(1)))
	f.git("gc", "-q", "--prune=now")
	fsck(t, f.dir)
	f = f.again()
	got, err := f.load(2)
	require.NoError(t, err)
	for i, want := range map[int]string{0: "kept", 4: "of the fork"} {
		data, ok := f.payload(got[i], got[i].Payloads[0].Name)
		require.True(t, ok)
		require.Equal(t, want, data)
	}
	require.Len(t, textOf(t, got[3]), 100_000)
	_, ok := f.payload(got[2], "gone")
	require.False(t, ok)
	f.verified(2)
}

// If no conversation here has payload, a fetched one brought none.
func TestForkOfWhatWasFetchedReadsNoMoreThanItsEnd(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, say("x", "y", "z"))
	first := f.git("rev-parse", string(head)+"~2")
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git", "objects", first[:2], first[2:])))
	origin := &conversation.Event{Seq: 3, Time: when, Body: &conversation.ForkOrigin{Conversation: journaltest.ID(1), Commit: string(head)}}
	s := f.again()
	_, err := s.Fork(t.Context(), "", head, journaltest.ID(2), origin)
	require.NoError(t, err)
	require.NotContains(t, f.git("for-each-ref"), payloadRef(2))
}

func TestArchiveKeepsPayload(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, say("x"))
	record := attached(1, "why", []byte("old"))
	record.Body = &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{Time: when}}
	head, err := f.Archive(t.Context(), journaltest.ID(1), head, record, true)
	require.NoError(t, err)
	f.git("gc", "-q", "--prune=now")
	got, err := f.again().Load(t.Context(), head)
	require.NoError(t, err)
	data, ok := f.payload(got[1], "why")
	require.True(t, ok)
	require.Equal(t, "old", data)
}

// A secret, or 40 MB, can be dropped without a change to the chain: all else goes on, and
// a check says that it is gone.
func TestDroppedPayload(t *testing.T) {
	f := newFixture(t)
	text := strings.Repeat("secret\n", 20_000)
	head := f.create(1, []*conversation.Event{bigEvent(0, text), attached(1, "key.pem", []byte("secret"))})
	f.git("update-ref", "-d", payloadRef(1))
	f.git("gc", "-q", "--prune=now")
	fsck(t, f.dir)
	s := f.again()
	got, err := s.load(1)
	require.NoError(t, err)
	_, ok := s.payload(got[1], "key.pem")
	require.False(t, ok)
	require.True(t, strings.HasPrefix(text, textOf(t, got[0])), "the beginning is in the message")
	require.Less(t, len(textOf(t, got[0])), 17<<10)
	require.True(t, got[0].Payloads[0].Absent)
	require.Equal(t, int64(len(text)-len(textOf(t, got[0]))), got[0].Missing())
	require.Zero(t, got[1].Missing())
	verdict, err := s.Verify(t.Context(), journaltest.ID(1))
	require.NoError(t, err)
	require.Zero(t, verdict.Absent)
	require.Len(t, slices.DeleteFunc(verdict.Problems, func(p conversation.Problem) bool { return !strings.Contains(p.Text, "is missing") }), 2)
	_, err = s.Append(t.Context(), journaltest.ID(1), head, []*conversation.Event{attached(2, "new", []byte("x"))})
	require.NoError(t, err)

	// A copy of such events names only blobs in its trees that exist.
	for _, e := range got {
		e.Was = &seven
	}
	_, err = s.Create(t.Context(), journaltest.ID(2), "", got)
	require.NoError(t, err)
	fsck(t, f.dir)
}

func TestChangedPayloadIsDamage(t *testing.T) {
	f := newFixture(t)
	e := bigEvent(1, strings.Repeat("x\n", 50_000))
	f.create(1, []*conversation.Event{say("x")[0], e})
	other := f.put("blob", []byte("something else"))
	head := f.rewrite(1, func(c string) string { return strings.Replace(c, e.Payloads[0].OID, other, 1) })
	got, err := f.load(1)
	requireDamage(t, err, string(head), 1)
	require.Len(t, got, 1)
}

// Between the ref of the payload and that of the events a process may die.
func TestCrashBetweenTheRefs(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, []*conversation.Event{attached(0, "a", []byte("one"))})
	_, err := f.Append(t.Context(), journaltest.ID(1), head, []*conversation.Event{attached(1, "b", []byte("never"))})
	require.NoError(t, err)
	f.git("update-ref", refs+string(journaltest.ID(1)), string(head))

	s := f.again()
	s.verified(1)
	next, err := s.Append(t.Context(), journaltest.ID(1), head, []*conversation.Event{attached(1, "b", []byte("again"))})
	require.NoError(t, err)
	got, err := s.Load(t.Context(), next)
	require.NoError(t, err)
	data, _ := s.payload(got[1], "b")
	require.Equal(t, "again", data)
	s.verified(1)

	f.git("update-ref", payloadRef(5), f.git("rev-parse", payloadRef(1)))
	_, err = s.Create(t.Context(), journaltest.ID(5), "", say("x"))
	require.ErrorIs(t, err, conversation.ErrExists, "an id with payload is taken")
}

// Provider state that is too long for a header is payload, too.
func TestLongProviderState(t *testing.T) {
	f := newFixture(t)
	for i, n := range []int{16<<10 - 2, 16<<10 - 1, 100 << 10} {
		e := say("x")[0]
		e.Provider = []byte(`"` + strings.Repeat("s", n) + `"`)
		head := f.create(i, []*conversation.Event{e})
		got, err := f.load(i)
		require.NoError(t, err)
		require.Len(t, got[0].Provider, n+2)
		require.Equal(t, n == 16<<10-2, strings.Contains(string(f.raw(string(head))), "\njp-provider "))
	}
	copied, err := f.load(2)
	require.NoError(t, err)
	copied[0].Provider = nil
	f.create(3, copied)
	copied, err = f.load(3)
	require.NoError(t, err)
	require.Empty(t, copied[0].Provider, "what a copy has dropped does not come back")
	_, err = f.Create(t.Context(), journaltest.ID(9), "", []*conversation.Event{{Time: when, Body: &conversation.Note{}, Provider: []byte("{")}})
	require.ErrorIs(t, err, conversation.ErrJSON)
}
