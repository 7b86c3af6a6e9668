package sandbox

import (
	"fmt"
	"os"

	"jp/sandbox/secondstage"
)

// RunChild refuses to act as a process that only jp starts. It reports asked if the arguments are those of
// Prepare: then there was no spec, or package secondstage would have carried it out, and code is the
// process's exit code.
func RunChild(args []string) (code int, asked bool) {
	if len(args) <= secondstage.Args || args[1] != secondstage.Word {
		return 0, false
	}
	fmt.Fprintln(os.Stderr, "jp starts this command itself: it came without rules.")
	return secondstage.ExitUsage, true
}

// spec has the rights that a process gives up before it becomes a program, and the program. left is the
// network that it has left, 0 if it stays in jp's.
func (r Rules) spec(support Support, program string, left uint64) *secondstage.ChildSpec {
	o := &secondstage.ChildSpec{Program: program, Left: left, User: uint64(os.Geteuid()), Group: uint64(os.Getegid()), Capabilities: kept()}
	reads := len(r.OnlyRead) > 0
	if reads || left != 0 && os.Geteuid() != 0 {
		o.Capabilities = [2]uint32{}
	}
	if support.Calls {
		filter := callFilter(machines(), r.sockets(support, left != 0))
		if reads {
			filter = readerFilter(machines()[0], support.ABI >= abiScope)
		}
		for _, f := range filter {
			o.Filter = append(o.Filter, uint64(f.Code)|uint64(f.Jt)<<16|uint64(f.Jf)<<24|uint64(f.K)<<32) // as these machines lay it out
		}
	}
	return o
}

// sockets are those that a program may open. own says that it is in a network of its own.
func (r Rules) sockets(support Support, own bool) (allowed sockets) {
	if r.Network {
		return allSockets
	}
	if own {
		allowed |= internetSockets
	}
	if support.ABI >= abiUnix {
		allowed |= localSockets
	}
	return allowed
}
