//go:build amd64 || arm64

package crashtest_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/internal/testing/crashtest"
)

// roleVariable makes this test binary the program that is killed.
const roleVariable = "CRASHTEST_ROLE"

func TestMain(m *testing.M) {
	role, ok := os.LookupEnv(roleVariable)
	if !ok {
		os.Exit(m.Run())
	}
	if err := roles[role](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// roles are the possible tasks of the victim.
var roles = map[string]func(args []string) error{
	"steps":   func(args []string) error { return perform(args[0], steps, os.Stdout) },
	"touch":   func(args []string) error { return os.WriteFile(args[0], nil, 0o600) },
	"fail":    func([]string) error { os.Exit(7); return nil },
	"suicide": func([]string) error { return unix.Kill(os.Getpid(), unix.SIGKILL) },
	"threads": func(args []string) error { return onThreads(args[0]) },
	"hang":    hang,
	// A select without cases would end the program as a deadlock.
	"sleep": func([]string) error { time.Sleep(time.Hour); return nil },
}

// A step is one point with an effect that snapshot sees, if any.
type step struct {
	syscall, path string
	do            func(in func(string) string) error
}

// steps are done in their order.
var steps = []step{
	{"mkdirat", "dir", func(in func(string) string) error { return unix.Mkdir(in("dir"), 0o700) }},
	{"openat", "dir/file", func(in func(string) string) error { return onFile(in("dir/file"), unix.O_CREAT, nil) }},
	{"openat", "old", func(in func(string) string) error { return onFile(in("old"), unix.O_CREAT, nil) }},
	{"write", "old", func(in func(string) string) error {
		return onFile(in("old"), 0, func(fd int) error { _, err := unix.Write(fd, []byte("four")); return err })
	}},
	{"pwrite64", "old", func(in func(string) string) error {
		return onFile(in("old"), 0, func(fd int) error { _, err := unix.Pwrite(fd, []byte("ive"), 1); return err })
	}},
	{"fsync", "old", func(in func(string) string) error { return onFile(in("old"), 0, unix.Fsync) }},
	{"flock", "old", func(in func(string) string) error {
		return onFile(in("old"), 0, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX) })
	}},
	{"ftruncate", "old", func(in func(string) string) error {
		return onFile(in("old"), 0, func(fd int) error { return unix.Ftruncate(fd, 2) })
	}},
	{"linkat", "link", func(in func(string) string) error { return unix.Link(in("old"), in("link")) }},
	{"symlinkat", "symlink", func(in func(string) string) error { return unix.Symlink("old", in("symlink")) }},
	{"renameat", "dir/file", func(in func(string) string) error { return unix.Rename(in("old"), in("dir/file")) }},
	{"fchmodat", "link", func(in func(string) string) error { return unix.Chmod(in("link"), 0o640) }},
	{"clone", "", func(in func(string) string) error { return touch(in("touched")) }},
	{"unlinkat", "symlink", func(in func(string) string) error { return unix.Unlink(in("symlink")) }},
	{"mkdirat", "empty", func(in func(string) string) error {
		dir, err := unix.Open(in("dir"), unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(dir)
		return unix.Mkdirat(dir, "../empty", 0o700)
	}},
	{"unlinkat", "empty", func(in func(string) string) error { return unix.Rmdir(in("empty")) }},
	{"openat", "link", func(in func(string) string) error { return onFile(in("link"), unix.O_TRUNC, nil) }},
}

// perform does some steps in a folder, and between them steps that do not count.
func perform(dir string, some []step, out io.Writer) error {
	for _, s := range some {
		if err := s.do(func(name string) string { return filepath.Join(dir, name) }); err != nil {
			return fmt.Errorf("%s %s: %w", s.syscall, s.path, err)
		}
		if _, err := os.ReadDir(dir); err != nil {
			return err
		}
		if _, err := io.WriteString(out, "to a pipe\n"); err != nil {
			return err
		}
	}
	return nil
}

// touch starts one child, which makes a file. The first start of a child by
// package os makes another one, to test the kernel's abilities.
func touch(path string) error {
	cmd := command("touch", path)
	pid, err := syscall.ForkExec(cmd.Path, cmd.Args, &syscall.ProcAttr{Env: cmd.Env})
	if err != nil {
		return err
	}
	_, err = unix.Wait4(pid, nil, 0, nil)
	return err
}

// onFile opens a file, and does something with it.
func onFile(path string, flags int, do func(fd int) error) error {
	fd, err := unix.Open(path, unix.O_RDWR|flags, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if do == nil {
		return nil
	}
	return do(fd)
}

const threads, filesEach = 4, 10

// onThreads makes files on several threads at once.
func onThreads(dir string) error {
	var wg sync.WaitGroup
	errs := make([]error, threads)
	for i := range threads {
		wg.Go(func() {
			runtime.LockOSThread()
			for n := range filesEach {
				errs[i] = errors.Join(errs[i], onFile(filepath.Join(dir, fmt.Sprint(i, ".", n)), unix.O_CREAT, nil))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// hang starts a child that never ends, reports it, and never ends.
func hang([]string) error {
	child := command("sleep")
	child.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println(child.Process.Pid)
	return child.Wait()
}

// command is this test binary in a role, with an empty environment otherwise.
func command(role string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = []string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0"}
	return cmd
}

// run runs a command to its end, or skips the test without tracing.
func run(t *testing.T, cmd *exec.Cmd, kill func(crashtest.Point) bool) crashtest.Result {
	t.Helper()
	result, err := crashtest.Run(t.Context(), cmd, kill)
	if errors.Is(err, crashtest.ErrUnsupported) {
		// Without tracing the test cannot choose the system call at which it kills jp.
		t.Skip(err)
	}
	require.NoError(t, err)
	return result
}

// snapshot describes all files below a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			found[name] += " " + strconv.Quote(string(text))
			return err
		}
		return nil
	}))
	return found
}
