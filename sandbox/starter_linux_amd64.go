package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"jp/sandbox/secondstage"
)

// starterText is the address of the machine code in starter_linux_amd64.s. It uses only its registers, its
// stack, and the memory at starterAt.
var starterText uintptr

// The layout of a starter: ELF header, code, the texts of errors, calls, data. The code has the addresses of both tables.
const (
	starterAt     = 0x400000
	starterCode   = 0x100
	starterErrors = 0x280
	starterCalls  = 0xb00
	starterData   = 0x1000
	lastErrno     = 133 // the next bytes have the text of 0
)

// Values that the code replaces in an argument.
const (
	last   = ^uint64(0) // first argument: the last result other than 0
	room   = ^uint64(0) // second: the memory that the starter can write
	words  = ^uint64(1) // second: the program's arguments. The third becomes its environment
	masked = ^uint64(0) // in the place of a call: the second is a mask for eight bytes of the room
)

// starterRuns has a starter end at once, the first time: a policy may forbid programs in memory.
var starterRuns = sync.OnceValue(func() bool {
	var s starter
	s.call(unix.SYS_EXIT_GROUP, 0)
	file := s.file()
	if file == nil {
		return false
	}
	start := Start{Argv: []string{self}, Path: fmt.Sprintf("/proc/self/fd/%d", secondstage.Ruleset), Files: []*os.File{file}}
	defer start.Close()
	return start.command().Run() == nil
})

// starterFile is a program that follows the spec and becomes its program, as package secondstage does. A
// second start of all of jp takes longer than the program. name is the program's in messages. It returns
// nil if there can be none.
var starterFile = func(spec *secondstage.ChildSpec, name string) *os.File {
	if !starterRuns() {
		return nil
	}
	var s starter
	s.confine(spec)
	s.become(spec.Program, name)
	return s.file()
}

// A starter is a list of system calls, and the data that they are about. It ends at the first that fails.
type starter struct {
	calls, data []byte
	onError     uint64 // the message for errors of the next calls
}

// put adds data, and tells its address.
func (s *starter) put(data string) (address uint64) {
	address = starterAt + starterData + uint64(len(s.data))
	s.data = append(s.data, data...)
	return address
}

// numbers adds numbers, and tells their address.
func (s *starter) numbers(all ...uint64) (address uint64) {
	var data []byte
	for _, n := range all {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	return s.put(string(data))
}

func (s *starter) call(number uint64, arguments ...uint64) {
	for _, n := range append(append([]uint64{number}, arguments...), 0, 0, 0)[:4] {
		s.calls = binary.LittleEndian.AppendUint64(s.calls, n)
	}
	s.calls = binary.LittleEndian.AppendUint64(s.calls, s.onError)
}

// step names the step of the next calls.
func (s *starter) step(what string) {
	text := "the program was not run, because it could not be confined: " + what + ": "
	s.onError = s.numbers(0, s.put(text), uint64(len(text)), secondstage.ExitNotRun)
}

// confine gives up the rights in the spec.
func (s *starter) confine(spec *secondstage.ChildSpec) {
	if spec.Left != 0 {
		s.step("bring up a loopback interface of its own")
		s.leave(spec)
	}
	s.step("give up new privileges")
	s.call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	s.step("restrict with landlock")
	s.call(unix.SYS_LANDLOCK_RESTRICT_SELF, secondstage.Ruleset)
	s.call(unix.SYS_CLOSE, secondstage.Ruleset)
	s.call(unix.SYS_CLOSE, secondstage.Spec) // the starter itself
	s.step("give up privileges")
	header, keep := s.numbers(unix.LINUX_CAPABILITY_VERSION_3), spec.Capabilities
	s.call(unix.SYS_CAPGET, header, room)
	// Of 0 to 31 and of 32 to 63: effective, permitted, inheritable, of which none stay.
	s.call(masked, 0, uint64(keep[0])|uint64(keep[0])<<32)
	s.call(masked, 8, uint64(keep[1])<<32)
	s.call(masked, 16, uint64(keep[1]))
	s.call(unix.SYS_CAPSET, header, room)
	if len(spec.Filter) > 0 {
		s.step("filter system calls")
		s.call(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, s.numbers(uint64(len(spec.Filter)), s.numbers(spec.Filter...)))
	}
}

// leave brings the process into namespaces of its own, with a loopback interface. Only root can make them: others first
// become root in a user namespace that has them and their group. The kernel makes one only for a process with one thread,
// or at its start, which Go does by a copy of all of jp's memory.
func (s *starter) leave(spec *secondstage.ChildSpec) {
	if spec.User == 0 {
		s.call(unix.SYS_UNSHARE, own)
	} else {
		s.call(unix.SYS_UNSHARE, own|unix.CLONE_NEWUSER)
		for _, file := range [][2]string{
			{"setgroups", "deny"}, {"uid_map", fmt.Sprintf("%d %[1]d 1", spec.User)}, {"gid_map", fmt.Sprintf("%d %[1]d 1", spec.Group)},
		} {
			const current = ^uint64(99) // AT_FDCWD
			s.call(unix.SYS_OPENAT, current, s.put("/proc/self/"+file[0]+"\x00"), unix.O_WRONLY|unix.O_CLOEXEC)
			s.call(unix.SYS_WRITE, last, s.put(file[1]), uint64(len(file[1])))
		}
	}
	var request [40]byte // struct ifreq
	copy(request[:], "lo")
	binary.LittleEndian.PutUint16(request[16:], unix.IFF_UP)
	s.call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC)
	s.call(unix.SYS_IOCTL, last, unix.SIOCSIFFLAGS, s.put(string(request[:])))
}

// become replaces the starter by the program, "": it connects to itself, and ends.
func (s *starter) become(program, name string) {
	if program == "" {
		const at = "\x02\x00\x1f\x90\x7f\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00" // 127.0.0.1:8080
		s.call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM)
		s.call(unix.SYS_BIND, last, s.put(at), uint64(len(at)))
		s.call(unix.SYS_LISTEN, last, 1)
		s.call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM)
		s.call(unix.SYS_CONNECT, last, s.put(at), uint64(len(at)))
		s.call(unix.SYS_EXIT_GROUP, 0)
		return
	}
	text := "fork/exec " + name + ": "
	none, refused := "no such program: "+text, "not a program that can be run: "+text
	s.onError = s.numbers(
		uint64(unix.ENOENT), s.put(none), uint64(len(none)), secondstage.ExitNoProgram,
		uint64(unix.EACCES), s.put(refused), uint64(len(refused)), secondstage.ExitNotRun,
		uint64(unix.EPERM), s.put(refused), uint64(len(refused)), secondstage.ExitNotRun,
		0, s.put(text), uint64(len(text)), secondstage.ExitNotRun)
	s.call(unix.SYS_EXECVE, s.put(program+"\x00"), words)
}

// file is the starter in immutable memory. It returns nil if that fails.
func (s *starter) file() *os.File {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("jp-starter", flags|unix.MFD_EXEC)
	if err == unix.EINVAL { // a kernel before 6.3
		fd, err = unix.MemfdCreate("jp-starter", flags)
	}
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "starter")
	if _, err = file.Write(s.program()); err == nil {
		_, err = unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, secondstage.Seals)
	}
	if err != nil {
		file.Close()
		return nil
	}
	return file
}

// program is the content of that file.
func (s *starter) program() []byte {
	order := binary.LittleEndian
	program := make([]byte, starterData)
	copy(program, "\x7fELF\x02\x01\x01")
	copy(program[starterCode:starterErrors], (*(**[starterErrors - starterCode]byte)(unsafe.Pointer(&starterText)))[:])
	for n := range lastErrno + 1 {
		text := unix.Errno(n).Error() + "\n"
		order.PutUint64(program[starterErrors+16*n:], s.put(text))
		order.PutUint64(program[starterErrors+16*n+8:], uint64(len(text)))
	}
	if starterErrors+16*(lastErrno+1) > starterCalls || starterCalls+len(s.calls) > starterData {
		panic("the tables of the starter overlap")
	}
	copy(program[starterCalls:], s.calls)
	program = append(program, s.data...)
	header := program[16:16]
	header = order.AppendUint16(header, 2) // ET_EXEC
	header = order.AppendUint16(header, 62)
	header = order.AppendUint32(header, 1)
	for _, n := range []uint64{starterAt + starterCode, 64, 0} { // entry, program headers, sections
		header = order.AppendUint64(header, n)
	}
	header = order.AppendUint32(header, 0)
	for _, n := range []uint16{64, 56, 2, 0, 0, 0} {
		header = order.AppendUint16(header, n)
	}
	segment := func(kind, flags uint32, fields ...uint64) {
		header = order.AppendUint32(order.AppendUint32(header, kind), flags)
		for _, n := range fields {
			header = order.AppendUint64(header, n)
		}
	}
	size := uint64(len(program))
	segment(1, 5, 0, starterAt, starterAt, size, size, 0x1000) // PT_LOAD: read and execute
	segment(0x6474e551, 6, 0, 0, 0, 0, 0, 16)                  // PT_GNU_STACK
	return program
}
