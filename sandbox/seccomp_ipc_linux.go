package sandbox

import "golang.org/x/sys/unix"

// ipcCalls are the numbers of calls by which a program uses memory, semaphores and queues of other
// processes of the user. Each can be found by a number, which does not tell its owner.
type ipcCalls struct {
	queues  [2]uint32 // mq_open, mq_unlink
	systemV []uint32  // to find, use and remove shared memory, semaphores and message queues
}

var (
	ipcAMD64   = ipcCalls{[2]uint32{240, 241}, []uint32{29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220}}
	ipcI386    = ipcCalls{[2]uint32{277, 278}, []uint32{117, 393, 394, 395, 396, 397, 399, 400, 401, 402, 420}} // the first is all in one
	ipcARM     = ipcCalls{[2]uint32{274, 275}, []uint32{298, 299, 300, 301, 302, 303, 304, 305, 307, 308, 312, 420}}
	ipcGeneric = ipcCalls{[2]uint32{180, 181}, []uint32{186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196}} // arm64, riscv64
)

// filter refuses POSIX message queues, which landlock refuses in a namespace of the program's own. It
// refuses System V objects if the program has no namespace for them, but allows them with the user's
// network: database servers need them.
func (c ipcCalls) filter(allowed sockets) (filter []unix.SockFilter) {
	denied := c.queues[:]
	if allowed&internetSockets == 0 {
		denied = append(denied, c.systemV...)
	}
	for _, call := range denied {
		filter = append(filter, when(call, verdict(deny))...)
	}
	return filter
}
