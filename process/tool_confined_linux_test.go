package process_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/process"
)

// A process that cannot get new privileges counts as a tool's program for one that can, and only for such a
// one.
func TestFromToolByPrivileges(t *testing.T) {
	const confine, ask = "PROCESS_TEST_CONFINE", "PROCESS_TEST_ASK"
	if argv := os.Getenv(confine); argv != "" {
		become(t, strings.Fields(argv), confine)
	}
	l := process.Locks{Dir: t.TempDir()}
	if pid, err := strconv.Atoi(os.Getenv(ask)); err == nil {
		fmt.Println("from a tool:", l.FromTool(pid, ""))
		return
	}
	if status, err := os.ReadFile("/proc/self/status"); err != nil || strings.Contains(string(status), "NoNewPrivs:\t1") {
		// A child cannot regain privileges that its parent has given up.
		t.Skip("this process itself can get no new privileges")
	}
	start := func(environ ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), environ...)
		return cmd
	}
	confined := start(confine + "=cat")
	in, err := confined.StdinPipe()
	require.NoError(t, err)
	out, err := confined.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, confined.Start())
	t.Cleanup(func() { in.Close(); _ = confined.Wait() })
	_, err = in.Write([]byte("here\n"))
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "here\n", line, "it is what it was to become")

	require.True(t, l.FromTool(confined.Process.Pid, ""))
	require.False(t, l.FromTool(os.Getppid(), ""))
	said, err := start(confine+"="+os.Args[0]+" -test.run ^"+t.Name()+"$", ask+"="+strconv.Itoa(confined.Process.Pid)).Output()
	require.NoError(t, err)
	require.Contains(t, string(said), "from a tool: false", "who can get none itself cannot tell")
}

// become gives up new privileges and becomes another program.
func become(t *testing.T, argv []string, without string) {
	path, err := exec.LookPath(argv[0])
	require.NoError(t, err)
	require.NoError(t, os.Unsetenv(without))
	runtime.LockOSThread()
	require.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	require.NoError(t, syscall.Exec(path, argv, os.Environ()))
}
