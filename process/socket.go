package process

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// maxSocketPath is how many bytes the path of a socket may have, without the
// zero at its end.
const maxSocketPath = len(unix.RawSockaddrUnix{}.Path) - 1

// Listen makes the conversation's socket, in place of any file of its name.
// Closing the listener leaves the name: Remove takes it away. The accepter of a
// connection checks it with CheckPeer before it reads anything.
func (r Registry) Listen(id conversation.ID) (*net.UnixListener, error) {
	d, err := r.makeFor(id)
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", id, err)
	}
	defer d.close()
	l, err := d.listen(socketName(id))
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", id, err)
	}
	return l, nil
}

// listen makes a socket that has its name only once it can be connected to.
func (d *folder) listen(name string) (*net.UnixListener, error) {
	temporary := newName()
	address, err := d.address(temporary)
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // by then the address may be that of another file
	err = unix.Fchmodat(d.fd(), temporary, 0o600, 0)
	if err == nil {
		err = d.publish(temporary, name)
	}
	if err != nil {
		l.Close()
		d.remove(temporary)
		return nil, err
	}
	return l, nil
}

// Dial connects to the conversation's socket. At the other end is a process of this user, else the error is
// ErrPeer; fs.ErrNotExist if there is no socket.
func (r Registry) Dial(ctx context.Context, id conversation.ID) (*net.UnixConn, error) {
	var conn *net.UnixConn
	err := r.withFolder(id, func(d *folder) (err error) {
		conn, err = d.dial(ctx, socketName(id))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", id, err)
	}
	return conn, nil
}

func (d *folder) dial(ctx context.Context, name string) (*net.UnixConn, error) {
	if err := d.ownSocket(name); err != nil {
		return nil, err
	}
	address, err := d.address(name)
	if err != nil {
		return nil, err
	}
	any, err := new(net.Dialer).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	conn := any.(*net.UnixConn)
	if err := CheckPeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// ownSocket checks that a name is a socket of this user's, rather than a link to one.
func (d *folder) ownSocket(name string) error {
	var stat unix.Stat_t
	if err := unix.Fstatat(d.fd(), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "look at", Path: d.join(name), Err: err}
	}
	if uint32(stat.Mode)&unix.S_IFMT != unix.S_IFSOCK {
		return fmt.Errorf("%s: %w: it is not a socket; remove it", d.join(name), ErrNotOurs)
	}
	if int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: %w: it belongs to uid %d; remove it", d.join(name), ErrNotOurs, stat.Uid)
	}
	return nil
}

// address is the path of a name in the folder for the system. If descriptors have paths it goes through the
// open folder: it is short, and always leads there.
func (d *folder) address(name string) (string, error) {
	through := filepath.Join("/proc/self/fd", strconv.Itoa(d.fd()))
	info, err := os.Stat(through)
	own, errOwn := d.dir.Stat()
	if err == nil && errOwn == nil && os.SameFile(info, own) {
		return filepath.Join(through, name), nil
	}
	return plainAddress(d.join(name))
}

// plainAddress is a path as an address, if there is room for it.
func plainAddress(path string) (string, error) {
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("%w: %s has %d bytes of at most %d; set XDG_DATA_HOME to a shorter one",
			ErrPathTooLong, path, len(path), maxSocketPath)
	}
	return path, nil
}
