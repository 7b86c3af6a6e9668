package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A platform is one set of numbers that the processor's programs call the kernel
// by.
type platform struct {
	audit      uint32
	socket     uint32
	socketpair uint32
	socketcall uint32 // both of the above in one, 0 if absent
	limit      uint32 // calls from here on belong to an ABI that jp does not know; 0: all are known
	processes  processCalls
	ipc        ipcCalls
}

// ioUring does the work of other calls behind their back. Its number is the same
// everywhere.
const ioUring = 425

// machines are those whose programs this kernel may run, none if unknown.
func machines() []platform {
	switch runtime.GOARCH {
	case "amd64":
		return []platform{
			{audit: unix.AUDIT_ARCH_X86_64, socket: 41, socketpair: 53, limit: 0x40000000, processes: callsAMD64, ipc: ipcAMD64},
			{audit: unix.AUDIT_ARCH_I386, socket: 359, socketpair: 360, socketcall: 102, processes: callsI386, ipc: ipcI386},
		}
	case "arm64":
		return []platform{
			{audit: unix.AUDIT_ARCH_AARCH64, socket: 198, socketpair: 199, processes: callsGeneric, ipc: ipcGeneric},
			{audit: unix.AUDIT_ARCH_ARM, socket: 281, socketpair: 288, socketcall: 102, processes: callsARM, ipc: ipcARM},
		}
	case "riscv64":
		return []platform{{audit: unix.AUDIT_ARCH_RISCV64, socket: 198, socketpair: 199, processes: callsGeneric, ipc: ipcGeneric}}
	}
	return nil
}

// The places of a call's parts for a filter, by the layout of struct seccomp_data. An argument has its
// lower half first.
const (
	atCall     = 0
	atMachine  = 4
	atArgument = 16
)

// A filter's verdicts on a call.
const (
	allow   = unix.SECCOMP_RET_ALLOW
	deny    = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func and(mask uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}
}

func verdict(v uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v}
}

// when runs these instructions if the loaded value is k, else it skips them.
func when(k uint32, then ...unix.SockFilter) []unix.SockFilter {
	return compare(unix.BPF_JEQ, k, then)
}

func compare(how uint16, k uint32, then []unix.SockFilter) []unix.SockFilter {
	jump := unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jf: uint8(len(then))}
	return append([]unix.SockFilter{jump}, then...)
}

// join puts pieces of a filter one after the other.
func join(pieces ...[]unix.SockFilter) (filter []unix.SockFilter) {
	for _, p := range pieces {
		filter = append(filter, p...)
	}
	return filter
}

// sockets says which sockets a program may open.
type sockets int

// The sockets that a program may open. All may have connected pairs of the kinds that cannot
// send elsewhere, and ask the kernel about their network.
const (
	noSockets       sockets = 0
	localSockets    sockets = 1 << (iota - 1) // those in the file system
	internetSockets                           // of the network that the program is in
	allSockets      = ^noSockets
)

// callFilter is a filter that keeps a program from other processes, and from opening
// other sockets than these.
func callFilter(machines []platform, allowed sockets) []unix.SockFilter {
	filter := []unix.SockFilter{load(atMachine)}
	for _, m := range machines {
		filter = append(filter, when(m.audit, m.filter(allowed)...)...)
	}
	return append(filter, verdict(unknown))
}

// filter judges the calls of one machine.
func (m platform) filter(allowed sockets) []unix.SockFilter {
	filter := []unix.SockFilter{load(atCall)}
	if m.limit > 0 {
		filter = append(filter, compare(unix.BPF_JGE, m.limit, []unix.SockFilter{verdict(unknown)})...)
	}
	filter = join(filter, m.processes.filter(), m.ipc.filter(allowed))
	if allowed != allSockets {
		filter = append(filter, m.sockets(allowed)...)
	}
	return append(filter, verdict(allow))
}

// sockets judges the calls that open sockets.
func (m platform) sockets(allowed sockets) []unix.SockFilter {
	pairs := when(unix.AF_UNIX, join(
		[]unix.SockFilter{load(atArgument + 8), and(0xf)},
		when(unix.SOCK_STREAM, verdict(allow)),
		when(unix.SOCK_SEQPACKET, verdict(allow)),
	)...)
	sockets := when(unix.AF_NETLINK, join([]unix.SockFilter{load(atArgument + 16)}, when(unix.NETLINK_ROUTE, verdict(allow)), []unix.SockFilter{verdict(deny)})...)
	if allowed&localSockets != 0 {
		pairs = when(unix.AF_UNIX, verdict(allow))
		sockets = join(pairs, sockets)
	}
	if allowed&internetSockets != 0 {
		sockets = join(when(unix.AF_INET, verdict(allow)), when(unix.AF_INET6, verdict(allow)), sockets)
	}
	of := func(call uint32, judged []unix.SockFilter) []unix.SockFilter {
		return when(call, join([]unix.SockFilter{load(atArgument)}, judged, []unix.SockFilter{verdict(deny)})...)
	}
	filter := join(when(ioUring, verdict(deny)), of(m.socket, sockets), of(m.socketpair, pairs))
	if m.socketcall > 0 { // its arguments are in memory, which a filter cannot see
		filter = append(filter, when(m.socketcall, join([]unix.SockFilter{load(atArgument)},
			when(1, verdict(deny)), when(8, verdict(deny)), []unix.SockFilter{verdict(allow)})...)...)
	}
	return filter
}

// filters reports whether seccomp can do it here.
func filters() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0 && machines() != nil
}
