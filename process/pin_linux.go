package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// StartOf is when a process began, in the kernel's ticks since the boot: together
// with the pid it names one process. It is "" if unknown.
func StartOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	return startIn(string(text))
}

// startIn finds field 22 of a stat file. Field 2 is a name in parentheses, of
// which a program chooses every byte.
func startIn(stat string) string {
	const after = 22 - 3
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= after {
		return ""
	}
	return fields[after]
}

// A pidfd signals its process, and never a later one with the same number.
type pidfd struct{ fd int }

// pin pins the process of a holder, if it is provably the one: it pins first, so that the later checks are
// about the pinned process.
func pin(holder Holder, lock string) (*pidfd, error) {
	want, err := os.Stat(lock)
	if err != nil {
		return nil, err
	}
	if holder.PID == os.Getpid() {
		return nil, fmt.Errorf("%w: it is this process", ErrNotHolder)
	}
	fd, err := unix.PidfdOpen(holder.PID, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotHolder, err)
	}
	p := &pidfd{fd: fd}
	if start := StartOf(holder.PID); start == "" || start != holder.Start {
		p.close()
		return nil, fmt.Errorf("%w: it did not begin when the holder did", ErrNotHolder)
	}
	if !locks(holder.PID, want) {
		p.close()
		return nil, fmt.Errorf("%w: it does not have the lock", ErrNotHolder)
	}
	return p, nil
}

// locks reports whether a process has the lock of a file, by itself or together
// with others that have the same descriptor.
func locks(pid int, want os.FileInfo) bool {
	for _, fd := range descriptors(pid, want) {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "fdinfo", fd))
		if err == nil && locksIn(string(text)) {
			return true
		}
	}
	return false
}

// locksIn reports whether a descriptor's fdinfo shows an exclusive lock, as in "lock: 1: FLOCK  ADVISORY
// WRITE 42 00:2c:123 0 EOF". A process that only looks has a shared one.
func locksIn(fdinfo string) bool {
	for line := range strings.Lines(fdinfo) {
		fields := strings.Fields(line)
		if len(fields) > 4 && fields[0] == "lock:" && fields[2] == "FLOCK" && fields[4] == "WRITE" {
			return true
		}
	}
	return false
}

// signal signals the process, unless it is gone.
func (p *pidfd) signal(signal unix.Signal) error {
	err := unix.PidfdSendSignal(p.fd, signal, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func (p *pidfd) close() { unix.Close(p.fd) }
