package powercut

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// ioctlShutdown is the same number for ext4 and xfs.
	ioctlShutdown = 0x8004587d
	// noLogFlush drops the part of the log that is only in memory.
	noLogFlush = 2
	// ioctlForget is BTRFS_IOC_FORGET_DEV, on btrfs's control device.
	ioctlForget = 0x50009405
)

// Shutdown stops the file system of a folder at once: data that is only in memory is lost, and every call
// fails until it is mounted anew. ext4 and xfs know it.
func Shutdown(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetPointerInt(fd, ioctlShutdown, noLogFlush); err != nil {
		return fmt.Errorf("shut %s down: %w", dir, err)
	}
	return nil
}

// forget makes btrfs forget a device. It remembers those that it has seen, and
// refuses an older image of one.
func forget(d *Device) error {
	control, err := unix.Open("/dev/btrfs-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/btrfs-control: %w", err)
	}
	defer unix.Close(control)
	var args [4096]byte // eight bytes of no importance, then the path
	copy(args[8:], d.Path)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(control), ioctlForget, uintptr(unsafe.Pointer(&args)))
	if errno != 0 && errno != unix.ENOENT { // it has forgotten by itself
		return fmt.Errorf("forget %s: %w", d.Path, errno)
	}
	return nil
}
