package sandbox

import (
	"fmt"
	"os"

	"jp/sandbox/secondstage"
)

// RunChild refuses to be what only jp starts. It reports asked if the arguments are those
// of Start: then there was no spec, or package secondstage would have carried it out, and
// code is what the process must end with.
func RunChild(args []string) (code int, asked bool) {
	if len(args) <= secondstage.Args || args[1] != secondstage.Word {
		return 0, false
	}
	fmt.Fprintln(os.Stderr, "jp starts this command itself: it came without rules.")
	return secondstage.ExitUsage, true
}

// spec is what a process gives up before it becomes a program, and which one that is.
func (r Rules) spec(support Support, program string) *secondstage.ChildSpec {
	attr := r.handled(support.ABI)
	o := &secondstage.ChildSpec{
		Program: program, Handled: [3]uint64{attr.HandledAccessFS, attr.HandledAccessNet, attr.Scoped}, Capabilities: kept(),
	}
	reads := len(r.OnlyRead) > 0
	if reads {
		o.Capabilities = [2]uint32{}
	}
	for _, g := range r.Grants(os.DirFS("/")) {
		o.Grants = append(o.Grants, secondstage.Grant{
			Path: g.Path, Folder: g.Access.rights(true) & attr.HandledAccessFS, File: g.Access.rights(false) & attr.HandledAccessFS,
		})
	}
	if support.Calls {
		allowed := noSockets
		switch {
		case r.Network:
			allowed = allSockets
		case support.ABI >= abiUnix:
			allowed = localSockets
		}
		filter := callFilter(machines(), allowed)
		if reads {
			filter = readerFilter(machines()[0], support.ABI >= abiScope)
		}
		for _, f := range filter {
			o.Filter = append(o.Filter, uint64(f.Code)|uint64(f.Jt)<<16|uint64(f.Jf)<<24|uint64(f.K)<<32) // as these machines lay it out
		}
	}
	return o
}
