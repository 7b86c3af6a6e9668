package gitstore_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

// TestAnotherEventsBytes reads a conversation in which the bytes of an event, under its name, are those of
// another conversation's event: from there on the history is another one, and all of it is damage.
func TestAnotherEventsBytes(t *testing.T) {
	const at, events = 20, 40
	for name, place := range map[string]func(f *fixture, to, from string){"loose": standLoose, "packed": standPacked} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.create(1, long(events))
			others := make([]string, events)
			for i := range others {
				others[i] = fmt.Sprintf("of another conversation, %d", i)
			}
			f.create(2, say(others...))
			ours, err := f.load(1)
			require.NoError(t, err)
			theirs, err := f.load(2)
			require.NoError(t, err)
			place(f, ours[at].Commit, theirs[at].Commit)

			got, err := f.again().load(1)
			requireDamage(t, err, ours[at].Commit, 0)
			require.Empty(t, got)
			v, err := f.again().Verify(t.Context(), journaltest.ID(1))
			require.NoError(t, err)
			require.Equal(t, ours[at].Commit, v.Problems[0].Commit)
			for e, err := range f.again().Backward(t.Context(), conversation.Head(ours[events-1].Commit)) {
				if err != nil {
					requireDamage(t, err, ours[at].Commit, 0)
					break
				}
				require.Greater(t, e.Seq, at)
			}
		})
	}
}

// TestAPipeForAnEvent reads and looks for an event in whose place a pipe stands, on which
// a git would wait for good.
func TestAPipeForAnEvent(t *testing.T) {
	f := newFixture(t)
	f.create(1, long(3))
	events, err := f.load(1)
	require.NoError(t, err)
	for _, at := range []int{1, 2} {
		file := filepath.Join(f.dir, ".git", "objects", events[at].Commit[:2], events[at].Commit[2:])
		require.NoError(t, os.Remove(file))
		require.NoError(t, unix.Mkfifo(file, 0o666))
		_, err := f.again().Load(t.Context(), conversation.Head(events[2].Commit))
		requireDamage(t, err, events[at].Commit, 0)
	}
}

// standLoose puts the loose file of one object in the place of another's.
func standLoose(f *fixture, to, from string) {
	f.t.Helper()
	file := func(oid string) string { return filepath.Join(f.dir, ".git", "objects", oid[:2], oid[2:]) }
	data, err := os.ReadFile(file(from))
	require.NoError(f.t, err)
	require.NoError(f.t, os.Remove(file(to)))
	require.NoError(f.t, os.WriteFile(file(to), data, 0o444))
}

// standPacked packs everything, and changes the index so that it leads from one object's name to another
// object.
func standPacked(f *fixture, to, from string) {
	f.t.Helper()
	f.git("repack", "-adq")
	files, err := filepath.Glob(filepath.Join(f.dir, ".git", "objects", "pack", "*.idx"))
	require.NoError(f.t, err)
	require.Len(f.t, files, 1)
	index, err := os.ReadFile(files[0])
	require.NoError(f.t, err)
	const names = 8 + 4*256
	size := testFormat.Size()
	n := int(binary.BigEndian.Uint32(index[names-4:]))
	offset := func(oid string) []byte {
		raw, err := hex.DecodeString(oid)
		require.NoError(f.t, err)
		i := bytes.Index(index[names:names+n*size], raw) / size
		return index[names+n*(size+4)+4*i:][:4]
	}
	copy(offset(to), offset(from))
	sum := testFormat.New()
	sum.Write(index[:len(index)-size])
	copy(index[len(index)-size:], sum.Sum(nil))
	require.NoError(f.t, os.Chmod(files[0], 0o644))
	require.NoError(f.t, os.WriteFile(files[0], index, 0o444))
}
