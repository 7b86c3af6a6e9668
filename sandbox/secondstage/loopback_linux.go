package secondstage

import (
	"syscall"
	"unsafe"
)

// OwnNetwork is the link whose number tells the network that a process is in.
const OwnNetwork = "/proc/self/ns/net"

// An interfaceRequest is a struct ifreq with flags.
type interfaceRequest struct {
	name  [16]byte
	flags uint16
	_     [22]byte
}

// ownLoopback brings up the loopback interface, which gets its addresses by that. In the
// network that the process must have left it fails: the filter allows sockets.
func (s *ChildSpec) ownLoopback() error {
	var network syscall.Stat_t
	if err := syscall.Stat(OwnNetwork, &network); err != nil {
		return err
	}
	if network.Ino == s.Left {
		return syscall.EEXIST
	}
	if uint64(syscall.Geteuid()) != s.User || uint64(syscall.Getegid()) != s.Group {
		return syscall.EPERM
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := interfaceRequest{name: [16]byte{'l', 'o'}}
	for _, call := range []uintptr{syscall.SIOCGIFFLAGS, syscall.SIOCSIFFLAGS} {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), call, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return errno
		}
		if request.flags&syscall.IFF_UP != 0 {
			break
		}
		request.flags |= syscall.IFF_UP
	}
	return nil
}

// tryLoopback connects to itself, and gives the code with which the process ends.
func tryLoopback() (code int) {
	at := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	listener, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil || syscall.Bind(listener, at) != nil || syscall.Listen(listener, 1) != nil {
		return ExitNotRun
	}
	name, err := syscall.Getsockname(listener)
	if err != nil {
		return ExitNotRun
	}
	dialer, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil || syscall.Connect(dialer, name) != nil {
		return ExitNotRun
	}
	return 0
}
