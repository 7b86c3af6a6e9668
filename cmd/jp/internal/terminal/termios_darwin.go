package terminal

import "golang.org/x/sys/unix"

const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)

// flush throws away typed bytes that were not read.
func flush(fd int) error {
	const read = 1 // FREAD of <sys/file.h>
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
