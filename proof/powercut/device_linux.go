package powercut

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// A Device is a block device of the kernel whose content is a file.
type Device struct {
	Path string
	fd   int
}

// Attach makes a device of a file. If the file allows it, its reads and writes pass by the kernel's cache
// of the file. The kernel detaches the device when it is closed everywhere and unmounted, even if this
// process is gone.
func Attach(file string) (*Device, error) {
	backing, err := unix.Open(file, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	defer unix.Close(backing)
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/loop-control: %w", err)
	}
	defer unix.Close(control)
	for {
		d, err := attachFree(control, backing)
		if !errors.Is(err, unix.EBUSY) { // another process was faster
			return d, err
		}
	}
}

func attachFree(control, backing int) (*Device, error) {
	n, err := unix.IoctlRetInt(control, unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return nil, fmt.Errorf("find a free loop device: %w", err)
	}
	d := &Device{Path: fmt.Sprintf("/dev/loop%d", n)}
	if d.fd, err = unix.Open(d.Path, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s: %w", d.Path, err)
	}
	config := unix.LoopConfig{Fd: uint32(backing)}
	config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR | unix.LO_FLAGS_DIRECT_IO
	if err = unix.IoctlLoopConfigure(d.fd, &config); errors.Is(err, unix.EINVAL) {
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		err = unix.IoctlLoopConfigure(d.fd, &config)
	}
	if err != nil {
		unix.Close(d.fd)
		return nil, fmt.Errorf("configure %s: %w", d.Path, err)
	}
	return d, nil
}

// Close gives the device back. A file system on it must be unmounted.
func (d *Device) Close() error { return unix.Close(d.fd) }
