package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// signalHolders signals every process but this one that has the file open. It pins the process while it looks
// at its descriptors, so that its number cannot pass to another one.
func signalHolders(path string, signal unix.Signal) error {
	want, err := os.Stat(path)
	if err != nil {
		return err
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return fmt.Errorf("this system does not say who holds a file: %w", err)
	}
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		pidfd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // gone, or not ours
		}
		if holds(pid, want) {
			err = unix.PidfdSendSignal(pidfd, signal, nil, 0)
		}
		unix.Close(pidfd)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// holds reports whether a process has a file open.
func holds(pid int, want os.FileInfo) bool { return len(descriptors(pid, want)) > 0 }

// descriptors are a process's descriptors of a file. Descriptors of another name are left alone: on a file
// system that hangs, a look would hang.
func descriptors(pid int, want os.FileInfo) (found []string) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	fds, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, fd := range fds {
		path := filepath.Join(dir, fd.Name())
		if target, err := os.Readlink(path); err != nil || filepath.Base(target) != want.Name() {
			continue
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, want) {
			found = append(found, fd.Name())
		}
	}
	return found
}
