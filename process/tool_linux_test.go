package process_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestFromTool(t *testing.T) {
	l := locks(t)
	taken, err := l.Take(id, holder())
	require.NoError(t, err)
	defer taken.Release()
	f, done, err := l.Tool(id, 7, "")
	require.NoError(t, err)
	start := func(environ []string, files ...*os.File) int {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		cmd.Env, cmd.ExtraFiles = environ, files
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	inherits, marked, stranger := start(nil, f), start([]string{"MARK=x"}), start([]string{"MARKS=x", "PATH=/bin"}, taken.File())
	done()
	require.True(t, l.FromTool(inherits, "MARK"), "also when the tool has ended")
	require.True(t, l.FromTool(marked, "MARK"))
	require.True(t, l.FromTool(inherits, ""))
	require.False(t, l.FromTool(marked, ""))
	require.False(t, l.FromTool(stranger, "MARK"), "a conversation's lock is not a tool's")
	require.False(t, l.FromTool(1<<30, "MARK"))
}

// The name of a tool's lock goes while the lock is held: otherwise another process could take a lock that has
// lost its name.
func TestTheNameOfAToolLockGoesFirst(t *testing.T) {
	l := locks(t)
	_, done, err := l.Tool(id, 7, "")
	require.NoError(t, err)
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	defer unix.Close(watch)
	_, err = unix.InotifyAddWatch(watch, l.Dir, unix.IN_DELETE|unix.IN_CLOSE_WRITE)
	require.NoError(t, err)
	done()
	events := make([]byte, 4096)
	_, err = unix.Read(watch, events)
	require.NoError(t, err)
	require.EqualValues(t, unix.IN_DELETE, binary.NativeEndian.Uint32(events[4:]), "the first of them")
}
