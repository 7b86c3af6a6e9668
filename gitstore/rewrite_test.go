package gitstore_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// objects is the content of all objects of a repository.
func objects(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("git", "cat-file", "--batch-all-objects", "--batch", "--unordered")
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

func TestWhateverIsWrittenIsRewritten(t *testing.T) {
	const secret = "hunter2hunter2"
	dir := gitenv.Repo(t)
	asked := map[conversation.ID]int{}
	s := openStore(t, dir, gitstore.Options{Durability: odb.Off, Rewrite: func(id conversation.ID, events []*conversation.Event) error {
		asked[id] += len(events)
		for _, e := range events {
			e.Rewrite(func(_, text string) string { return strings.ReplaceAll(text, secret, "[x]") })
		}
		return nil
	}})
	f := &fixture{Store: s, t: t, dir: dir}
	event := func(seq int) *conversation.Event {
		e := attached(seq, "of "+secret, []byte("it is "+secret))
		e.Body, e.Subject = &conversation.Note{Content: strings.Repeat(secret+"\n", 8000)}, "note: "+secret
		return e
	}
	head := f.create(1, []*conversation.Event{event(0)})
	added := event(1)
	head, err := s.Append(t.Context(), journaltest.ID(1), head, []*conversation.Event{added})
	require.NoError(t, err)
	text, _ := added.Text()
	require.NotContains(t, text, secret, "the caller's event is what was stored")
	require.Equal(t, "note: [x]", added.Subject)

	origin := event(2)
	origin.Body = &conversation.ForkOrigin{Conversation: journaltest.ID(1), Seq: 1, Commit: string(head)}
	_, err = s.Fork(t.Context(), journaltest.ID(1), head, journaltest.ID(2), origin)
	require.NoError(t, err)
	_, err = s.Archive(t.Context(), journaltest.ID(1), head, event(2), true)
	require.NoError(t, err)

	require.Equal(t, map[conversation.ID]int{journaltest.ID(1): 3, journaltest.ID(2): 1}, asked)
	require.NotContains(t, objects(t, dir), secret)
	f.verified(2)
}

func TestWhatCannotBeRewrittenIsNotWritten(t *testing.T) {
	no := errors.New("no")
	dir := gitenv.Repo(t)
	s := openStore(t, dir, gitstore.Options{Durability: odb.Off, Rewrite: func(conversation.ID, []*conversation.Event) error { return no }})
	_, err := s.Create(t.Context(), journaltest.ID(1), "", say("x"))
	require.ErrorIs(t, err, no)
	require.NotContains(t, gitenv.Git(t, dir, "for-each-ref"), "refs/jp")
}
