package powercut_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

const (
	// roleVariable makes this test binary the program that loses its power.
	roleVariable = "POWERCUT_ROLE"
	// namespaceVariable says that the mounts are this process's own.
	namespaceVariable = "POWERCUT_NAMESPACE"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(roleVariable) != "":
		if err := work(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case os.Geteuid() == 0 && os.Getenv(namespaceVariable) == "":
		os.Exit(inNamespace(m))
	default:
		os.Exit(m.Run())
	}
}

// inNamespace runs the tests again in a mount namespace of their own. The kernel
// takes all mounts away with the last process in it, and the devices with those.
func inNamespace(m *testing.M) int {
	runtime.LockOSThread() // the child's life hangs on this thread's
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), namespaceVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return m.Run() // a container without the right; the tests say what they lack
	}
	var exit *exec.ExitError
	switch err := cmd.Wait(); {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	default:
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
}
