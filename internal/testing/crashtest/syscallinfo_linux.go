//go:build amd64 || arm64

package crashtest

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// syscallInfo is the kernel's struct ptrace_syscall_info of a call that begins.
// Of one that ends only Op means something.
type syscallInfo struct {
	Op                 uint8
	_                  [3]uint8
	Arch               uint32
	InstructionPointer uint64
	StackPointer       uint64
	Nr                 uint64
	Args               [6]uint64
}

// read asks about a thread that is stopped at a call. Linux answers since 5.3.
func (i *syscallInfo) read(tid int) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		unsafe.Sizeof(*i), uintptr(unsafe.Pointer(i)), 0, 0)
	switch errno {
	case 0:
		return nil
	case unix.EIO, unix.EINVAL:
		return fmt.Errorf("%w: system call information: %w", ErrUnsupported, errno)
	}
	return fmt.Errorf("system call information: %w", errno)
}
