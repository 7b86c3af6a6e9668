package sandbox

import (
	"slices"
	"testing"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// jp asks each version of landlock to forbid exactly the rights that it knows.
func TestHandled(t *testing.T) {
	const resolve = landlock.AccessFSResolveUnix
	for _, c := range []struct {
		abi                int
		files, online, net uint64
		scopes             uint64
	}{
		{1, 1<<13 - 1, 1<<13 - 1, 0, 0},
		{2, 1<<14 - 1, 1<<14 - 1, 0, 0},
		{3, 1<<15 - 1, 1<<15 - 1, 0, 0},
		{4, 1<<15 - 1, 1<<15 - 1, 3, 0},
		{5, 1<<16 - 1, 1<<16 - 1, 3, 0},
		{6, 1<<16 - 1, 1<<16 - 1, 3, 3},
		{7, 1<<16 - 1, 1<<16 - 1, 3, 3},
		{9, 1<<17 - 1, 1<<17 - 1 - resolve, 3, 3},
		{10, 1<<17 - 1, 1<<17 - 1 - resolve, 15, 3},
		{99, 1<<17 - 1, 1<<17 - 1 - resolve, 15, 3},
	} {
		off := Rules{}.handled(c.abi, false)
		require.Equal(t, landlock.RulesetAttr{HandledAccessFS: c.files, HandledAccessNet: c.net, Scoped: c.scopes}, off, "%d", c.abi)
		own := Rules{}.handled(c.abi, true)
		require.Equal(t, landlock.RulesetAttr{HandledAccessFS: c.files, Scoped: c.scopes}, own, "%d", c.abi)
		on := Rules{Network: true}.handled(c.abi, false)
		require.Equal(t, landlock.RulesetAttr{HandledAccessFS: c.online, Scoped: c.scopes & landlock.ScopeSignal}, on, "%d", c.abi)
	}
}

// Granted rights are known to the version that handles all of it. No grant allows the making of devices, or
// gives a file a right on folders.
func TestRights(t *testing.T) {
	const ofFiles = landlock.AccessFSExecute | landlock.AccessFSWriteFile | landlock.AccessFSReadFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev
	for _, a := range []Access{List, Read, Write, Device} {
		require.Zero(t, a.rights(false)&^ofFiles, "%d", a)
		require.Zero(t, a.rights(true)&(landlock.AccessFSMakeChar|landlock.AccessFSMakeBlock), "%d", a)
		require.Zero(t, a.rights(false)&^a.rights(true), "%d", a)
	}
	require.Zero(t, Access(0).rights(true))
}

// call is a filter's view of a system call.
type call struct {
	machine, number, first, second, third uint32
	thirdHigh, fifth                      uint32
}

func judge(t *testing.T, filter []unix.SockFilter, c call) uint32 {
	t.Helper()
	data := map[uint32]uint32{atMachine: c.machine, atCall: c.number, atArgument: c.first, atArgument + 8: c.second, atArgument + 16: c.third, atArgument + 20: c.thirdHigh, atArgument + 32: c.fifth}
	var a uint32
	for at := 0; at < len(filter); at++ {
		i := filter[at]
		holds := false
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = data[i.K]
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= i.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			holds = a == i.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			holds = a >= i.K
		default:
			require.Failf(t, "unknown instruction", "%v", i)
		}
		if holds {
			at += int(i.Jt)
		} else {
			at += int(i.Jf)
		}
	}
	require.Fail(t, "the filter has no end")
	return 0
}

func intel() []platform {
	return []platform{
		{audit: unix.AUDIT_ARCH_X86_64, socket: 41, socketpair: 53, limit: 0x40000000, processes: callsAMD64, ipc: ipcAMD64},
		{audit: unix.AUDIT_ARCH_I386, socket: 359, socketpair: 360, socketcall: 102, processes: callsI386, ipc: ipcI386},
	}
}

func TestFilter(t *testing.T) {
	const wide, narrow = unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_I386
	filters := map[sockets][]unix.SockFilter{}
	for _, allowed := range []sockets{noSockets, localSockets, internetSockets, localSockets | internetSockets, allSockets} {
		filters[allowed] = callFilter(intel(), allowed)
	}
	for name, c := range map[string]struct {
		call        call
		none, local uint32
	}{
		"write":                  {call{wide, 1, 1, 0, 0, 0, 0}, allow, allow},
		"tcp":                    {call{wide, 41, unix.AF_INET, unix.SOCK_STREAM, 0, 0, 0}, deny, deny},
		"tcp 6":                  {call{wide, 41, unix.AF_INET6, unix.SOCK_STREAM, 0, 0, 0}, deny, deny},
		"of this machine":        {call{wide, 41, unix.AF_UNIX, unix.SOCK_STREAM, 0, 0, 0}, deny, allow},
		"about the network":      {call{wide, 41, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, 0, 0}, allow, allow},
		"about packets":          {call{wide, 41, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER, 0, 0}, deny, deny},
		"to other programs":      {call{wide, 41, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_USERSOCK, 0, 0}, deny, deny},
		"packets":                {call{wide, 41, unix.AF_PACKET, unix.SOCK_RAW, 0, 0, 0}, deny, deny},
		"pair":                   {call{wide, 53, unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0, 0, 0}, allow, allow},
		"pair of packets":        {call{wide, 53, unix.AF_UNIX, unix.SOCK_SEQPACKET, 0, 0, 0}, allow, allow},
		"pair that sends":        {call{wide, 53, unix.AF_UNIX, unix.SOCK_DGRAM, 0, 0, 0}, deny, allow},
		"pair that sends raw":    {call{wide, 53, unix.AF_UNIX, unix.SOCK_RAW | unix.SOCK_NONBLOCK, 0, 0, 0}, deny, allow},
		"pair of another family": {call{wide, 53, unix.AF_TIPC, unix.SOCK_STREAM, 0, 0, 0}, deny, deny},
		"io_uring":               {call{wide, 425, 8, 0, 0, 0, 0}, deny, deny},
		"another ABI":            {call{wide, 0x40000000 | 41, unix.AF_INET, 1, 0, 0, 0}, unknown, unknown},
		"narrow write":           {call{narrow, 4, 1, 0, 0, 0, 0}, allow, allow},
		"narrow tcp":             {call{narrow, 359, unix.AF_INET, 1, 0, 0, 0}, deny, deny},
		"narrow, of this one":    {call{narrow, 359, unix.AF_UNIX, 1, 0, 0, 0}, deny, allow},
		"narrow, by another":     {call{narrow, 41, unix.AF_INET, 1, 0, 0, 0}, allow, allow},
		"in one call":            {call{narrow, 102, 1, 0, 0, 0, 0}, deny, deny},
		"pair in one call":       {call{narrow, 102, 8, 0, 0, 0, 0}, deny, deny},
		"send in one call":       {call{narrow, 102, 9, 0, 0, 0, 0}, allow, allow},
		"narrow io_uring":        {call{narrow, 425, 8, 0, 0, 0, 0}, deny, deny},
		"another machine":        {call{1, 41, unix.AF_INET, 1, 0, 0, 0}, unknown, unknown},
	} {
		of := map[sockets]uint32{noSockets: c.none, localSockets: c.local, internetSockets: c.none, localSockets | internetSockets: c.local, allSockets: allow}
		if slices.Contains([]string{"tcp", "tcp 6", "narrow tcp"}, name) {
			of[internetSockets], of[localSockets|internetSockets] = allow, allow
		}
		if c.local == unknown {
			of[allSockets] = unknown
		}
		for allowed, want := range of {
			require.Equal(t, want, judge(t, filters[allowed], c.call), "%s, with %b", name, allowed)
		}
	}
}

// A call for the calling thread is allowed, one for another process refused, on each
// machine, with and without the network.
func TestFilterOfProcesses(t *testing.T) {
	all := append(intel(), platform{audit: unix.AUDIT_ARCH_ARM, processes: callsARM, ipc: ipcARM}, platform{audit: unix.AUDIT_ARCH_AARCH64, processes: callsGeneric, ipc: ipcGeneric})
	for _, m := range all {
		p := m.processes
		cases := map[call]uint32{
			{number: p.prlimit, first: 0, third: 8}:                           allow,
			{number: p.prlimit, first: 7}:                                     allow,
			{number: p.prlimit, first: 7, third: 8}:                           deny,
			{number: p.prlimit, first: 7, thirdHigh: 8}:                       deny,
			{number: p.setpriority, first: 0, second: 0}:                      allow,
			{number: p.setpriority, first: 0, second: 7}:                      deny,
			{number: p.setpriority, first: 1, second: 0}:                      deny,
			{number: p.setpriority, first: 2, second: 0}:                      deny,
			{number: p.ioprioSet, first: 1, second: 0}:                        allow,
			{number: p.ioprioSet, first: 1, second: 7}:                        deny,
			{number: p.ioprioSet, first: 2, second: 0}:                        deny,
			{number: p.ioprioSet, first: 3, second: 0}:                        deny,
			{number: p.perf, second: 0, third: 1}:                             allow,
			{number: p.perf, second: 7}:                                       allow, // landlock judges it
			{number: p.perf, second: ^uint32(0)}:                              deny,
			{number: p.perf, second: 3, fifth: unix.PERF_FLAG_PID_CGROUP | 8}: deny,
		}
		for _, n := range p.keyring {
			cases[call{number: n}] = deny
		}
		for _, n := range p.scheduling {
			cases[call{number: n}] = allow
			cases[call{number: n, first: 7}] = deny
		}
		for c, want := range cases {
			c.machine = m.audit
			require.Equal(t, want, judge(t, callFilter(all, noSockets), c), "%+v", c)
			require.Equal(t, want, judge(t, callFilter(all, allSockets), c), "with the network: %+v", c)
		}
		for _, n := range m.ipc.queues {
			require.Equal(t, uint32(deny), judge(t, callFilter(all, allSockets), call{machine: m.audit, number: n}), "%d", n)
			require.Equal(t, uint32(deny), judge(t, callFilter(all, internetSockets), call{machine: m.audit, number: n}), "%d", n)
		}
		for _, n := range m.ipc.systemV {
			require.Equal(t, uint32(deny), judge(t, callFilter(all, localSockets), call{machine: m.audit, number: n}), "%d", n)
			require.Equal(t, uint32(allow), judge(t, callFilter(all, allSockets), call{machine: m.audit, number: n}), "%d", n)
			require.Equal(t, uint32(allow), judge(t, callFilter(all, internetSockets|localSockets), call{machine: m.audit, number: n}), "%d", n)
		}
		const reach = 255 // a jump has a byte
		require.LessOrEqual(t, len(m.filter(localSockets|internetSockets)), reach)
		require.LessOrEqual(t, len(m.filter(noSockets)), reach)
	}
}
