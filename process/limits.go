package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// The needs of a jp process. With less, a start of git or a look at the files may fail in the middle of a
// turn.
const (
	fewestFiles  = 128
	leastAddress = 2 << 30
)

// CheckLimits reports a limit of this process that is too low for jp to work.
func CheckLimits() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < fewestFiles {
		return fmt.Errorf("this process may open %d files, and jp needs %d: raise the limit with ulimit -n %d", limit.Cur, fewestFiles, fewestFiles)
	}
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err == nil && limit.Cur < leastAddress {
		return fmt.Errorf("this process may use %d MiB of address space, and jp needs %d: raise the limit with ulimit -v %d",
			limit.Cur>>20, leastAddress>>20, leastAddress>>10)
	}
	return nil
}
