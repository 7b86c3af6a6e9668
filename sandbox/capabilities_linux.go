package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// kept are the privileges that a program of root keeps: over files, users and
// groups, as in a container. The others get round the walls: who may watch all
// processes reads their environment, who may open files by number needs no path.
func kept() []int {
	return []int{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID,
		unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT, unix.CAP_AUDIT_WRITE, unix.CAP_SETFCAP,
	}
}

// dropPrivileges takes all others from this thread, which has given up new ones.
func dropPrivileges() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&header, &has[0]); err != nil {
		return fmt.Errorf("read the privileges: %w", err)
	}
	var keep [2]uint32
	for _, c := range kept() {
		keep[c/32] |= 1 << (c % 32)
	}
	for i := range has {
		has[i].Effective &= keep[i]
		has[i].Permitted &= keep[i]
		has[i].Inheritable = 0
	}
	if err := unix.Capset(&header, &has[0]); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	return nil
}
