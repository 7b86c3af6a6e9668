package sandbox

import "golang.org/x/sys/unix"

// The calls by which a reader could change things that landlock does not judge: owners, modes, times and
// attributes of files, and other processes. The numbers above 400 are the same everywhere.
var (
	newerChanges  = []uint32{424, 434, 438, 440, 448, 452, 463, 466, 469} // pidfd_send_signal, pidfd_open, pidfd_getfd, process_madvise, process_mrelease, fchmodat2, setxattrat, removexattrat, file_setattr
	changesAMD64  = []uint32{90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280, 62, 101, 129, 297, 310, 311, 312}
	changesOthers = []uint32{52, 53, 54, 55, 88, 5, 6, 7, 14, 15, 16, 129, 117, 138, 240, 270, 271, 272} // arm64, riscv64
	// threadSignals are tkill and tgkill, by which a program ends itself. Landlock judges them if it judges
	// signals.
	threadSignals = map[uint32][]uint32{unix.AUDIT_ARCH_X86_64: {200, 234}, unix.AUDIT_ARCH_AARCH64: {130, 131}, unix.AUDIT_ARCH_RISCV64: {130, 131}}
)

// Requests of ioctl that change the attributes of a file that is open for reading.
const (
	setFlags      = 0x40086602 // FS_IOC_SETFLAGS
	setAttributes = 0x401c5820 // FS_IOC_FSSETXATTR
)

// readerFilter is a filter for a program that only reads. It speaks the calls of one machine. scoped says that landlock
// keeps signals from other processes.
func readerFilter(m platform, scoped bool) []unix.SockFilter {
	denied := changesOthers
	if m.audit == unix.AUDIT_ARCH_X86_64 {
		denied = changesAMD64
	}
	denied = append(newerChanges[:len(newerChanges):len(newerChanges)], denied...)
	if !scoped {
		denied = append(denied, threadSignals[m.audit]...)
	}
	filter := []unix.SockFilter{
		load(atMachine), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: m.audit, Jt: 1}, verdict(unknown), load(atCall),
	}
	ioctl := uint32(29)
	if m.audit == unix.AUDIT_ARCH_X86_64 {
		ioctl = 16
	}
	filter = append(filter, when(ioctl, join([]unix.SockFilter{load(atArgument + 8)},
		when(setFlags, verdict(deny)), when(setAttributes, verdict(deny)), []unix.SockFilter{load(atCall)})...)...)
	for _, call := range denied {
		filter = append(filter, when(call, verdict(deny))...)
	}
	return append(filter, m.filter(noSockets)...)
}
