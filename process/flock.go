package process

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var lockFile = unix.Flock // tests let it fail

// flock takes a lock of a file, however often a signal comes between.
func flock(f *os.File, how int) error {
	for {
		err := lockFile(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// unlock unlocks and closes a file after a look. Closing alone is not enough: a starting process shares the
// file, and the lock, for a moment.
func unlock(f *os.File) {
	_ = flock(f, unix.LOCK_UN)
	f.Close()
}
