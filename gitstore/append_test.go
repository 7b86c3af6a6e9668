package gitstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

// A store that has written the newest event expects the conversation at the same ref, and notices when it
// has moved.
func TestAppendWhereTheNewestEventWasWritten(t *testing.T) {
	id := journaltest.ID(1)
	live, archive := gitstore.RefOf(id), "refs/jp/archive/"+string(id)
	for name, c := range map[string]struct {
		meanwhile func(f *fixture, head string)
		ref       string // the ref of the next event
		err       error
	}{
		"nothing":                {func(*fixture, string) {}, live, nil},
		"packed":                 {func(f *fixture, _ string) { f.git("pack-refs", "--all") }, live, nil},
		"moved into the archive": {func(f *fixture, head string) { f.git("update-ref", archive, head); f.git("update-ref", "-d", live) }, archive, nil},
		"deleted":                {func(f *fixture, _ string) { f.git("update-ref", "-d", live) }, "", conversation.ErrNotFound},
		"set back":               {func(f *fixture, head string) { f.git("update-ref", live, head+"~") }, "", conversation.ErrHeadMoved},
		"another's event": {func(f *fixture, head string) {
			_, err := f.again().Append(f.t.Context(), id, conversation.Head(head), say("", "", "another")[2:])
			require.NoError(f.t, err)
		}, "", conversation.ErrHeadMoved},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			head, err := f.Append(t.Context(), id, f.create(1, say("first")), say("", "second")[1:])
			require.NoError(t, err)
			c.meanwhile(f, string(head))
			was := f.git("for-each-ref")
			next, err := f.Append(t.Context(), id, head, say("", "", "third")[2:])
			require.ErrorIs(t, err, c.err)
			if c.err != nil {
				require.Equal(t, was, f.git("for-each-ref"))
				return
			}
			require.Equal(t, string(next), f.git("rev-parse", c.ref))
			events, err := f.again().Load(t.Context(), next)
			require.NoError(t, err)
			require.Equal(t, []string{"first", "second", "third"}, []string{textOf(t, events[0]), textOf(t, events[1]), textOf(t, events[2])})
			fsck(t, f.dir)
		})
	}
}
