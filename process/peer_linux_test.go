package process_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/process"
)

const nobody = 65534

func TestPeerPID(t *testing.T) {
	r := registry(t)
	l, err := r.Listen(id)
	require.NoError(t, err)
	defer l.Close()
	near, err := r.Dial(t.Context(), id)
	require.NoError(t, err)
	defer near.Close()
	pid, err := process.PeerPID(near)
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), pid)
	require.NoError(t, near.Close())
	_, err = process.PeerPID(near)
	require.ErrorIs(t, err, net.ErrClosed)
	require.ErrorIs(t, process.CheckPeer(near), process.ErrPeer, "what cannot be told is not accepted")
}

// Another user that gets as far as to the socket is refused by who listens.
func TestStrangerConnects(t *testing.T) {
	r := registry(t)
	l, err := r.Listen(id)
	require.NoError(t, err)
	defer l.Close()
	path := at(r, string(id)+".sock")
	require.NoError(t, os.Chmod(path, 0o777))
	openUp(t, r.Folder())
	var near *net.UnixConn
	asNobody(t, func() { near, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"}) })
	require.NoError(t, err)
	defer near.Close()
	far, err := l.AcceptUnix()
	require.NoError(t, err)
	defer far.Close()
	err = process.CheckPeer(far)
	require.ErrorIs(t, err, process.ErrPeer)
	require.ErrorContains(t, err, "65534")
}

// A socket that another user listens on is refused by who connects, though its
// file is ours.
func TestStrangerListens(t *testing.T) {
	r := registry(t)
	require.NoError(t, r.Put(entry()))
	public := t.TempDir()
	openUp(t, public)
	require.NoError(t, os.Chmod(public, 0o777))
	path := filepath.Join(public, "s")
	var l *net.UnixListener
	var err error
	asNobody(t, func() { l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}) })
	require.NoError(t, err)
	defer l.Close()
	l.SetUnlinkOnClose(false)
	ours := at(r, string(id)+".sock")
	require.NoError(t, os.Rename(path, ours))
	_, err = r.Dial(t.Context(), id)
	require.ErrorIs(t, err, process.ErrNotOurs, "the file is theirs")
	require.NoError(t, os.Chown(ours, 0, 0))
	_, err = r.Dial(t.Context(), id)
	require.ErrorIs(t, err, process.ErrPeer)
}

func TestFolderOfAnother(t *testing.T) {
	r := registry(t)
	require.NoError(t, r.Put(entry()))
	asNobody(t, func() {}) // skips if files cannot be given away
	path := at(r, string(id)+".json")
	require.NoError(t, os.Chown(path, nobody, nobody))
	_, err := r.Get(id)
	require.ErrorIs(t, err, process.ErrNotOurs)
	require.ErrorContains(t, err, path)
	require.NoError(t, os.Chown(r.Folder(), nobody, nobody))
	for act, err := range everyOperation(t, r) {
		require.ErrorIs(t, err, process.ErrNotOurs, act)
		require.ErrorContains(t, err, r.Folder(), act)
	}
}

// openUp lets everybody come to a folder.
func openUp(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

// asNobody runs work as another user.
func asNobody(t *testing.T, work func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		// Two users are needed, and to become the other one is root's.
		t.Skip("only root can be another user, too")
	}
	const same = ^uintptr(0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, nobody, same); errno != 0 {
		// A container may forbid even root to become another user.
		t.Skip("cannot be another user here: ", errno)
	}
	defer unix.RawSyscall(unix.SYS_SETRESUID, same, 0, same)
	work()
}
