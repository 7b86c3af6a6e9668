package crashtest

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A fault is the failure of one call.
type fault struct {
	errno syscall.Errno // the call is skipped, and returns this
	count uint64        // it writes less than this, which it was asked to
}

// skip makes the kernel leave out the call that a thread begins.
func skip(tid int) error {
	return setRegisters(tid, func(r *unix.PtraceRegs) { r.Orig_rax = ^uint64(0) })
}

// shorten halves the length of a write, and returns that. It is 0 if there is nothing to halve.
func shorten(tid int, syscall string) (count uint64, err error) {
	if syscall != "write" && syscall != "pwrite64" {
		return 0, nil
	}
	err = setRegisters(tid, func(r *unix.PtraceRegs) {
		if r.Rdx > 1 {
			count, r.Rdx = r.Rdx, r.Rdx/2
		}
	})
	return count, err
}

// end gives a call that has ended its outcome. The program's own registers are
// as it left them.
func (f fault) end(tid int) error {
	switch {
	case f.errno != 0:
		return setRegisters(tid, func(r *unix.PtraceRegs) { r.Rax = -uint64(f.errno) })
	case f.count != 0:
		return setRegisters(tid, func(r *unix.PtraceRegs) { r.Rdx = f.count })
	}
	return nil
}

func setRegisters(tid int, edit func(*unix.PtraceRegs)) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	edit(&regs)
	return unix.PtraceSetRegs(tid, &regs)
}
