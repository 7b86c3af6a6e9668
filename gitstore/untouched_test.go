package gitstore_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// snapshot is every file below a folder with its content, mode and time, but for the objects and the paths
// for which skip is true.
func snapshot(t *testing.T, dir string, skip func(path string) bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() || skip(filepath.ToSlash(name)) {
			return nil
		}
		info, err := d.Info()
		require.NoError(t, err)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		found[name] = fmt.Sprintf("%x %v %v", sha256.Sum256(data), info.Mode(), info.ModTime())
		return nil
	}))
	return found
}

// busy is a repository with something of everything that is the user's.
func busy(t *testing.T) *fixture {
	f := newFixture(t)
	for _, args := range [][]string{
		{"branch", "topic"}, {"tag", "-a", "-m", "x", "v1"}, {"config", "user.note", "mine"}, {"notes", "add", "-m", "n"},
		{"update-ref", "refs/remotes/o/main", "HEAD"}, {"update-ref", "refs/jp/notes/x", "HEAD"}, {"config", "core.logAllRefUpdates", "always"},
	} {
		f.git(args...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "staged"), []byte("s"), 0o644))
	f.git("add", "staged")
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "README.md"), []byte("changed"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, ".env"), []byte("untracked"), 0o644))
	return f
}

// No method of the journal changes the user's things.
func TestNothingOfTheUsersIsTouched(t *testing.T) {
	for _, packed := range []bool{false, true} {
		f := busy(t)
		if packed {
			f.git("gc", "-q")
		}
		own := func(path string) bool {
			for _, prefix := range []string{".git/objects/", ".git/jp/", ".git/" + refs, ".git/refs/jp/archive/", ".git/refs/jp/payloads/"} {
				if strings.HasPrefix(path, prefix) {
					return true
				}
			}
			return false
		}
		before := snapshot(t, f.dir, own)
		everything(t, f)
		require.Equal(t, before, snapshot(t, f.dir, own), "packed: %v", packed)
		fsck(t, f.dir)
	}
}

// Readers change nothing at all.
func TestReadersTouchNothing(t *testing.T) {
	f := busy(t)
	head := f.create(1, append(journaltest.Turn(t, "first", "answer"), bigEvent(3, strings.Repeat("x\n", 50_000))))
	nothing := func(string) bool { return false }
	before := snapshot(t, f.dir, nothing)
	for _, s := range []*fixture{f, f.again()} {
		got, err := s.load(1)
		require.NoError(t, err)
		for range s.Backward(t.Context(), head) {
		}
		_, _, err = s.Payload(t.Context(), got[3].Payloads[0])
		require.NoError(t, err)
		_, err = s.Info(t.Context(), journaltest.ID(1))
		require.NoError(t, err)
		for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived, conversation.ScopeRemotes} {
			_, err = s.List(t.Context(), scope)
			require.NoError(t, err)
		}
		s.problems(1)
	}
	require.Equal(t, before, snapshot(t, f.dir, nothing))
}

// everything calls each method that writes, and ends with no conversation.
func everything(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	base := gitenv.Git(t, f.dir, "rev-parse", "HEAD")
	s := journaltest.NewScript(t).Turn("first").Says("answer")
	head, err := f.Create(ctx, journaltest.ID(1), base, s.Events())
	require.NoError(t, err)
	group := []*conversation.Event{attached(3, "a", []byte("x")), bigEvent(4, strings.Repeat("x\n", 50_000))}
	head, err = f.Append(ctx, journaltest.ID(1), head, group)
	require.NoError(t, err)
	origin := &conversation.Event{Seq: 5, Turn: 1, Time: when, Body: &conversation.ForkOrigin{Conversation: journaltest.ID(1), Seq: 4, Commit: string(head)}}
	forked, err := f.Fork(ctx, journaltest.ID(1), head, journaltest.ID(2), origin)
	require.NoError(t, err)
	now, err := f.Head(ctx, journaltest.ID(1))
	require.NoError(t, err)
	require.Equal(t, head, now, "a fork leaves its source as it is")
	record := &conversation.Event{Seq: 5, Turn: 1, Time: when, Body: &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{Time: when}}}
	head, err = f.Archive(ctx, journaltest.ID(1), head, record, true)
	require.NoError(t, err)
	back := &conversation.Event{Seq: 6, Turn: 1, Time: when, Body: &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{}}}
	head, err = f.Archive(ctx, journaltest.ID(1), head, back, false)
	require.NoError(t, err)
	f.problems(1)
	require.NoError(t, f.Delete(ctx, journaltest.ID(1), head))
	require.NoError(t, f.Delete(ctx, journaltest.ID(2), forked))
}
