package powercut_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

const (
	// roleVariable makes this test binary another program.
	roleVariable = "POWERCUT_ROLE"
	workerRole   = "worker" // the program that loses its power
	keeperRole   = "keeper" // the process that keeps the mount namespace of the tests
	testsRole    = "tests"  // the tests, in a namespace in which all mounts are their own
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); {
	case role == workerRole:
		if err := work(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case role == keeperRole:
		os.Exit(keep())
	case role == "" && os.Geteuid() == 0:
		os.Exit(inNamespace(m))
	default:
		os.Exit(m.Run())
	}
}

// inNamespace runs the tests in a mount namespace of their own, below a keeper that no signal to the others
// reaches. The kernel removes all mounts with the last process in it, and the devices with those.
func inNamespace(m *testing.M) int {
	gone, alive, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer alive.Close()
	keeper := again(keeperRole)
	keeper.ExtraFiles = []*os.File{gone}
	keeper.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Setsid: true}
	if err := keeper.Start(); err != nil {
		return m.Run() // a container without the right; the tests name the missing one
	}
	gone.Close()
	return exitCode(keeper.Wait())
}

// again is this test binary in another role.
func again(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, err)
	return 2
}
