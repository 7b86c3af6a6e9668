package sandbox

import "golang.org/x/sys/unix"

// kept are the privileges that a program of root keeps: over files, users and groups, as in a container.
// The others get round the walls: a watcher of all processes reads their environment, and opening files by
// number needs no path.
func kept() (mask [2]uint32) {
	for _, c := range []int{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID,
		unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT, unix.CAP_AUDIT_WRITE, unix.CAP_SETFCAP,
	} {
		mask[c/32] |= 1 << (c % 32)
	}
	return mask
}
