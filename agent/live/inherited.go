package live

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepInherited marks the caller's descriptors, other than the standard streams, to be closed in every
// program that starts from now on. A program that goes on in the background would hold them open: the reader
// of the other end of such a pipe would wait for the end of the turn.
func keepInherited() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // the system has no list
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
