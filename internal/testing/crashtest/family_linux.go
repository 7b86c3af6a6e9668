//go:build amd64 || arm64

package crashtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// witnessFD is the descriptor that shows whether a program or one of its children lives. Its number is higher
// than those that a program hands to its children itself.
const witnessFD = 31

// A family is a program and everything that it started. All of them hold the
// writing end of a pipe, which is at its end when the last one has ended.
type family struct {
	alive   *os.File // the reading end
	witness *os.File // the writing end, until the program has it
	pipe    os.FileInfo
	ended   chan struct{}
}

// newFamily gives the command the witness.
func newFamily(cmd *exec.Cmd) (*family, error) {
	alive, witness, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	pipe, err := alive.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at a pipe: %w", err)
	}
	for len(cmd.ExtraFiles) < witnessFD-3 {
		cmd.ExtraFiles = append(cmd.ExtraFiles, nil)
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles[:witnessFD-3:witnessFD-3], witness)
	return &family{alive: alive, witness: witness, pipe: pipe, ended: make(chan struct{})}, nil
}

// begun reports that the program has the witness, or never will.
func (f *family) begun() {
	f.witness.Close()
	go func() {
		defer close(f.ended)
		_, _ = f.alive.Read(make([]byte, 1)) // blocks until the others have closed it
		f.alive.Close()
	}()
}

// wait waits for the last process to end.
func (f *family) wait() { <-f.ended }

// kill kills all processes, those too that one of them starts meanwhile.
func (f *family) kill() {
	for {
		f.killOnce()
		select {
		case <-f.ended:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (f *family) killOnce() {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0) // the number cannot pass to another process
		if err != nil {
			continue
		}
		if f.has(pid) {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have ended
		}
		unix.Close(fd)
	}
}

// has says whether a process holds the writing end.
func (f *family) has(pid int) bool {
	path := filepath.Join("/proc", strconv.Itoa(pid), "fd", strconv.Itoa(witnessFD))
	info, err := os.Stat(path)
	if err != nil || !os.SameFile(info, f.pipe) {
		return false
	}
	link, err := os.Lstat(path) // its mode is that with which the file was opened
	return err == nil && link.Mode().Perm()&0o200 != 0
}
