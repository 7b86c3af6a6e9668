package terminal

import "golang.org/x/sys/unix"

const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
)

// flush throws away typed bytes that were not read.
func flush(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
