package process

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// CheckPeer checks that a process of this user is at the other end, else the
// error is ErrPeer.
func CheckPeer(conn *net.UnixConn) error {
	var uid int
	err := withDescriptor(conn, func(fd int) (err error) {
		uid, err = peerUID(fd)
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPeer, err)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("%w: it is uid %d", ErrPeer, uid)
	}
	return nil
}

// PeerPID is the process that connected, or that listens.
func PeerPID(conn *net.UnixConn) (int, error) {
	var pid int
	err := withDescriptor(conn, func(fd int) (err error) {
		pid, err = peerPID(fd)
		return err
	})
	if err == nil && pid <= 0 {
		err = errors.New("it cannot be seen from here")
	}
	if err != nil {
		return 0, fmt.Errorf("look for the process at the other end: %w", err)
	}
	return pid, nil
}

func withDescriptor(conn *net.UnixConn, work func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = work(int(fd)) })
	return errors.Join(err, inner)
}
