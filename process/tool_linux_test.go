package process_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
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
	inherits, marked, stranger := start(nil, f), start([]string{"MARK=x"}), start([]string{"MARKS=x", "PATH=/bin"}, taken.Hand())
	done()
	require.True(t, l.FromTool(inherits, "MARK"), "also when the tool has ended")
	require.True(t, l.FromTool(marked, "MARK"))
	require.True(t, l.FromTool(inherits, ""))
	require.False(t, l.FromTool(marked, ""))
	require.False(t, l.FromTool(stranger, "MARK"), "a conversation's lock is not a tool's")
	require.False(t, l.FromTool(1<<30, "MARK"))
}
