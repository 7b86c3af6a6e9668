package powercut_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// connections is the folder of the kernel in which FUSE's connections can be aborted.
const connections = "/sys/fs/fuse/connections"

// keep runs the tests, and kills them when the process that wants them is gone.
//
// The tests serve the disks that they use: a process of that kind, when it is
// killed, may wait for ever for its own answers. The keeper, which never touches
// those disks, sees that and aborts them.
func keep() int {
	runtime.LockOSThread() // the tests' life hangs on this thread's
	gone := os.NewFile(3, "gone")
	syscall.CloseOnExec(3)
	tests := again(testsRole)
	tests.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := tests.Start(); err != nil {
		return exitCode(err)
	}
	go func() {
		_, _ = gone.Read(make([]byte, 1)) // the read ends when the other end is closed
		_ = tests.Process.Kill()
	}()
	go func() {
		for range time.Tick(200 * time.Millisecond) {
			if dying(tests.Process.Pid) {
				abortDisks()
			}
		}
	}()
	return exitCode(tests.Wait())
}

// dying reports whether a process has been killed or exits, and is still there.
func dying(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range threads {
		status, _ := os.ReadFile(path)
		if bytes.Contains(status, []byte("\nState:\tZ")) {
			return true
		}
		_, after, _ := strings.Cut(string(status), "\nSigPnd:\t")
		pending, _, _ := strings.Cut(after, "\n")
		if signals, err := strconv.ParseUint(pending, 16, 64); err == nil && signals&(1<<(unix.SIGKILL-1)) != 0 {
			return true
		}
	}
	return false
}

// abortDisks makes every call on the disks of this namespace fail.
func abortDisks() {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if !strings.Contains(line, " - fuse powercut ") || len(fields) < 3 {
			continue
		}
		_, minor, _ := strings.Cut(fields[2], ":")
		abort := filepath.Join(connections, minor, "abort")
		if _, err := os.Stat(abort); err != nil {
			_ = unix.Mount("none", connections, "fusectl", 0, "")
		}
		_ = os.WriteFile(abort, []byte("1"), 0)
	}
}
