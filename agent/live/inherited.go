package live

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepInherited keeps what the caller left open beside the standard streams from
// every program that is started from now on. In one that goes on in the
// background it would stay open: the reader of the other end of such a pipe would
// wait for the end of the turn.
func keepInherited() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // the system does not tell what is open
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
