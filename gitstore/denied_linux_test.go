package gitstore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

// A repository that may only be read can be read, and says so when written to.
func TestReadOnlyRepository(t *testing.T) {
	f := newFixture(t)
	s := journaltest.NewScript(t).Turn("first").Says("answer")
	head := f.create(1, s.Events())
	s.Turn("more")
	require.NoError(t, filepath.WalkDir(filepath.Join(f.dir, ".git"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		t.Cleanup(func() { os.Chmod(path, 0o755) })
		return os.Chmod(path, 0o555)
	}))
	for dir := f.dir; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755)) // or nobody could not even read
	}
	reader := f.again()
	asNobody(t, func() {
		_, err := reader.Append(t.Context(), journaltest.ID(1), head, s.Events()[3:])
		require.ErrorIs(t, err, conversation.ErrReadOnlyStore)
		_, err = reader.Create(t.Context(), journaltest.ID(2), "", s.Events())
		require.ErrorIs(t, err, conversation.ErrReadOnlyStore)
		got, err := reader.load(1)
		require.NoError(t, err)
		require.Len(t, got, 3)
		infos, err := reader.List(t.Context(), conversation.ScopeLive)
		require.NoError(t, err)
		require.NoError(t, infos[0].Err)
		reader.verified(1)
	})
}

// asNobody runs work without the right to write to others' files.
func asNobody(t *testing.T, work func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		work()
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(nobody); err != nil {
		// Modes bind everybody but root, so root would test nothing.
		t.Skip("cannot give up the rights of root: ", err)
	}
	defer syscall.Setfsuid(0)
	work()
}
