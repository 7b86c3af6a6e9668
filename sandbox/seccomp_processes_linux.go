package sandbox

import "golang.org/x/sys/unix"

// processCalls are the numbers of calls by which a program reaches other processes of the user, and which
// landlock lets through. Signals, tracing, and calls that ask the kernel for leave to trace
// (process_vm_writev, move_pages, pidfd_getfd) are landlock's.
type processCalls struct {
	keyring     [3]uint32 // add_key, request_key, keyctl: the keys of the user and the session
	scheduling  [4]uint32 // sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr
	setpriority uint32
	ioprioSet   uint32
	prlimit     uint32
	perf        uint32 // perf_event_open
}

var (
	callsAMD64 = processCalls{
		keyring: [3]uint32{248, 249, 250}, scheduling: [4]uint32{142, 144, 203, 314}, setpriority: 141, ioprioSet: 251, prlimit: 302, perf: 298,
	}
	callsI386 = processCalls{
		keyring: [3]uint32{286, 287, 288}, scheduling: [4]uint32{154, 156, 241, 351}, setpriority: 97, ioprioSet: 289, prlimit: 340, perf: 336,
	}
	callsARM = processCalls{
		keyring: [3]uint32{309, 310, 311}, scheduling: [4]uint32{154, 156, 241, 380}, setpriority: 97, ioprioSet: 314, prlimit: 369, perf: 364,
	}
	callsGeneric = processCalls{ // arm64, riscv64
		keyring: [3]uint32{217, 218, 219}, scheduling: [4]uint32{118, 119, 122, 274}, setpriority: 140, ioprioSet: 30, prlimit: 261, perf: 241,
	}
)

// Kinds of targets that are one process.
const (
	prioProcess   = 0 // PRIO_PROCESS
	ioprioProcess = 1 // IOPRIO_WHO_PROCESS
)

// perfCgroup is PERF_FLAG_PID_CGROUP: the measured processes are those of a control group.
const perfCgroup = 4

// filter refuses these calls for other targets than the calling thread, which is 0. A filter does not know
// the numbers of the program's own processes, so it refuses these, too.
func (c processCalls) filter() (filter []unix.SockFilter) {
	for _, call := range c.keyring {
		filter = append(filter, when(call, verdict(deny))...)
	}
	own := func(at uint32) []unix.SockFilter {
		return join([]unix.SockFilter{load(at)}, when(0, verdict(allow)), []unix.SockFilter{verdict(deny)})
	}
	for _, call := range c.scheduling {
		filter = append(filter, when(call, own(atArgument)...)...)
	}
	one := func(call, kind uint32) []unix.SockFilter {
		return when(call, join([]unix.SockFilter{load(atArgument)}, when(kind, own(atArgument+8)...), []unix.SockFilter{verdict(deny)})...)
	}
	filter = append(filter, one(c.setpriority, prioProcess)...)
	filter = append(filter, one(c.ioprioSet, ioprioProcess)...)
	const newLimit = atArgument + 16 // a pointer, nil to read a limit
	filter = append(filter, when(c.prlimit, join([]unix.SockFilter{load(atArgument)}, when(0, verdict(allow)),
		[]unix.SockFilter{load(newLimit)}, when(0, own(newLimit+4)...), []unix.SockFilter{verdict(deny)})...)...)
	const all = ^uint32(0) // the pid -1
	return append(filter, when(c.perf, join([]unix.SockFilter{load(atArgument + 8)}, when(all, verdict(deny)),
		[]unix.SockFilter{load(atArgument + 32), and(perfCgroup)}, when(perfCgroup, verdict(deny)), []unix.SockFilter{verdict(allow)})...)...)
}
