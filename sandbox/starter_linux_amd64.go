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

// starterText is the address of the machine code in starter_linux_amd64.s. It uses nothing but
// its registers, and what is at starterAt.
var starterText uintptr

// The layout of a starter: ELF header, code, calls, data. The code has the address of the calls.
const (
	starterAt    = 0x400000
	starterCode  = 0x100
	starterCalls = 0x200
	starterData  = 0x400
)

// starterFile is a program that brings itself into namespaces of its own and becomes the second stage.
// The kernel makes a user namespace only for a process with one thread, or at its start. Go starts
// such a process by a copy of all of jp's memory, which takes longer than the program. The starter
// has one thread and shares jp's memory until it begins.
var starterFile = sync.OnceValue(func() *os.File {
	fd, err := unix.MemfdCreate("jp-starter", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if err == unix.EINVAL { // a kernel before 6.3
		fd, err = unix.MemfdCreate("jp-starter", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "starter")
	if _, err = file.Write(starterProgram()); err == nil {
		_, err = unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, secondstage.Seals)
	}
	if err != nil {
		file.Close()
		return nil
	}
	return file
})

// ownUserNamespace lets a process start in a user namespace and namespaces of its own.
func (s *Start) ownUserNamespace() {
	if file := starterFile(); file != nil {
		s.Path = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
		return
	}
	s.Attr = inUserNamespace()
}

// starterProgram is the starter as a file.
func starterProgram() []byte {
	order := binary.LittleEndian
	var data []byte
	text := func(s string) (address uint64) {
		address = starterAt + starterData + uint64(len(data))
		data = append(data, s+"\x00"...)
		return address
	}
	const last = ^uint64(0) // the result of the call before
	current := ^uint64(99)  // AT_FDCWD
	calls := [][4]uint64{
		{unix.SYS_OPENAT, current, text(fmt.Sprintf("/proc/%d/exe", os.Getpid())), unix.O_PATH | unix.O_CLOEXEC},
		{unix.SYS_UNSHARE, own | unix.CLONE_NEWUSER},
	}
	for _, file := range [][2]string{
		{"setgroups", "deny"}, {"uid_map", fmt.Sprintf("%d %[1]d 1", os.Geteuid())}, {"gid_map", fmt.Sprintf("%d %[1]d 1", os.Getegid())},
	} {
		calls = append(calls, [4]uint64{unix.SYS_OPENAT, current, text("/proc/self/" + file[0]), unix.O_WRONLY | unix.O_CLOEXEC},
			[4]uint64{unix.SYS_WRITE, last, text(file[1]), uint64(len(file[1]))})
	}
	var request [40]byte // struct ifreq
	copy(request[:], "lo")
	order.PutUint16(request[16:], unix.IFF_UP)
	calls = append(calls, [4]uint64{unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC},
		[4]uint64{unix.SYS_IOCTL, last, unix.SIOCSIFFLAGS, text(string(request[:]))}, [4]uint64{^uint64(0), text("")})

	program := make([]byte, starterData)
	copy(program, "\x7fELF\x02\x01\x01")
	copy(program[starterCode:starterCalls], (*(**[starterCalls - starterCode]byte)(unsafe.Pointer(&starterText)))[:])
	for i, call := range calls {
		for k, n := range call {
			order.PutUint64(program[starterCalls+32*i+8*k:], n)
		}
	}
	program = append(program, data...)
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
