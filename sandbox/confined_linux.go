package sandbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Confined reports whether this process is confined with this place hidden: it may not read it, although
// the place itself is readable. A process that merely cannot gain privileges, such as in a container, does
// not count as confined.
func Confined(hidden string) bool {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err != nil || set == 0 || unix.Faccessat(unix.AT_FDCWD, hidden, unix.R_OK, unix.AT_EACCESS) != nil {
		return false
	}
	f, err := os.Open(hidden)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, os.ErrPermission)
}
