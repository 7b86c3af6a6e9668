package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/internal/testing/terminaltest"
)

// part names what this program plays for a test instead of testing.
const part = "JP_TERMINAL_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "asks":
		os.Exit(playAsking())
	case "has a child in the background":
		os.Exit(playParent())
	}
}

// playAsking asks on the terminal of the process.
func playAsking() int {
	tty, err := OpenTTY()
	if errors.Is(err, ErrNoTTY) {
		return 10
	}
	if err != nil {
		return 11
	}
	defer tty.Close()
	key, err := tty.Choose(context.Background(), "Key> ", nil)
	if err != nil {
		return 12
	}
	fmt.Fprintf(tty, "[%c]\n", key)
	return 0
}

func playParent() int {
	cmd := player("asks")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return exitCode(cmd.Run())
}

func player(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), part+"="+role)
	return cmd
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

func TestOpenTTY(t *testing.T) {
	t.Run("in the foreground", func(t *testing.T) {
		cmd, screen := onTerminal(t, "asks")
		screen.WaitFor("Key>")
		screen.Type("y")
		screen.WaitFor("[y]")
		require.Zero(t, exitCode(cmd.Wait()))
	})
	t.Run("in the background", func(t *testing.T) {
		cmd, _ := onTerminal(t, "has a child in the background")
		require.Equal(t, 10, exitCode(cmd.Wait()))
	})
	t.Run("without a terminal", func(t *testing.T) {
		cmd := player("asks")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		require.Equal(t, 10, exitCode(cmd.Run()))
	})
}

// onTerminal starts a part as the leader of a session on a screen.
func onTerminal(t *testing.T, role string) (*exec.Cmd, *terminaltest.Screen) {
	t.Helper()
	cmd := player(role)
	master, err := pty.Start(cmd)
	if err != nil {
		// A container without /dev/pts has no terminals to try.
		t.Skip("no pseudo-terminal here: ", err)
	}
	return cmd, terminaltest.Around(t, master, nil, 80, 24)
}

// A terminal that a killed program left without lines and echo has both after the next one.
func TestTheNextProgramRepairsTheTerminal(t *testing.T) {
	for name, use := range map[string]func(*TTY) error{
		"a keyboard": func(tty *TTY) error {
			k, err := tty.Keyboard(t.Context())
			if err != nil {
				return err
			}
			return k.Close()
		},
		"a question": func(tty *TTY) error {
			in, err := tty.listen(t.Context())
			if err != nil {
				return err
			}
			defer in.stop()
			_, restore, err := tty.enter(in)
			if err == nil {
				restore()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := terminaltest.New(t, 80, 24)
			tty := NewTTY(s.TTY)
			lines := func() bool {
				mode, err := unix.IoctlGetTermios(tty.fd(), getMode)
				require.NoError(t, err)
				return mode.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) == unix.ICANON|unix.ECHO|unix.ISIG
			}
			require.True(t, lines())
			killed, err := tty.Keyboard(t.Context())
			require.NoError(t, err)
			defer killed.in.stop()
			require.False(t, lines())
			require.NoError(t, use(tty))
			require.True(t, lines())
		})
	}
}
