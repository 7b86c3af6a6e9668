package sandbox

import (
	"os"
	"syscall"
)

// A Start is how a program is started in a sandbox.
type Start struct {
	Argv []string
	Path string // the program of the process, "": the first of Argv
	// Files are the process's inherited files, from descriptor 3 on. Close closes them.
	Files []*os.File
	// Attr starts it in namespaces of its own. Nil: it stays in jp's.
	Attr *syscall.SysProcAttr
}

// Close closes the files, once the process has started.
func (s *Start) Close() {
	for _, f := range s.Files {
		f.Close()
	}
}

// Rules are a program's rights. Paths are absolute. The zero value lets it read everything, write only a
// few devices, and connect only to itself.
type Rules struct {
	// Hidden are files and folders that it can neither read nor change, whether
	// they exist or not.
	Hidden []string
	// Private are hidden, too. They may have other names elsewhere, such as in a backup of
	// hard links, and can be read by those.
	Private []string
	// Writable are files and folders that it may change, and all below them. A missing one is left out. For
	// one that leads to a hidden place, the entries beside the way there count.
	Writable []string
	// Network lets it open sockets. Without it, it has only a loopback interface of its own if
	// [OwnLoopback] is true, and else none.
	Network bool
	// OnlyRead, unless empty, makes the program a reader: it reads only these places, lists no others, and
	// writes /dev/null. Writable and Network then do not count. It changes no owner, mode, time or
	// attribute of a file, reaches no other process, and has no privileges.
	OnlyRead []string
}

// A Support describes the rules that this system enforces.
type Support struct {
	ABI    int    // landlock's version, 0 without it
	Reason string // why this system enforces no rules, else ""
	Calls  bool   // seccomp keeps a program from calls that open sockets or reach other processes
}

// Enforced reports whether programs are confined here at all.
func (s Support) Enforced() bool { return s.Reason == "" }

// Readers reports whether a program can be kept from all that [Rules.OnlyRead] forbids.
func (s Support) Readers() bool { return s.Enforced() && s.Calls && s.ABI >= abiTruncate }

// Gaps are the things that a program can do here and that a newer system prevents, with or without the
// network.
func (s Support) Gaps(network bool) []string {
	var gaps []string
	lacks := func(lacking bool, what string) {
		if lacking {
			gaps = append(gaps, what)
		}
	}
	lacks(s.ABI < abiTruncate, "empty files anywhere")
	lacks(s.ABI < abiIoctl, "control devices that they can read")
	lacks(s.ABI < abiScope, "signal your other processes")
	lacks(!s.Calls, "change limits of your other processes and read your keyrings")
	if !s.Calls && !network {
		lacks(s.ABI < abiTCP, "use TCP")
		lacks(s.ABI < abiUDP, "use the network other than by TCP")
		lacks(s.ABI < abiUnix, "connect to sockets in the file system")
	}
	return gaps
}

// The versions of landlock that brought something.
const (
	abiRefer    = 2
	abiTruncate = 3
	abiTCP      = 4
	abiIoctl    = 5
	abiScope    = 6
	abiUnix     = 9
	abiUDP      = 10
)
