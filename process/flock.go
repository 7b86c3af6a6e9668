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

// unlock unlocks and closes a file that was only looked at. Closing would not do:
// a process that is being started shares the file, and the lock, for a moment.
func unlock(f *os.File) {
	_ = flock(f, unix.LOCK_UN)
	f.Close()
}
