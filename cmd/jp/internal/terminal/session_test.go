package terminal

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A question stays open if a person sees it: in a terminal session, also behind pipes.
func TestInSession(t *testing.T) {
	if os.Getenv("IN_SESSION") != "" {
		if InSession() {
			os.Exit(7)
		}
		os.Exit(8)
	}
	master, tty, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer tty.Close()
	for exit, attr := range map[int]*syscall.SysProcAttr{7: {Setsid: true, Setctty: true, Ctty: 3}, 8: {Setsid: true}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestInSession$")
		cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = append(os.Environ(), "IN_SESSION=1"), []*os.File{tty}, attr
		var ended *exec.ExitError
		require.ErrorAs(t, cmd.Run(), &ended)
		require.Equal(t, exit, ended.ExitCode())
	}
}
