package process

import "golang.org/x/sys/unix"

// DisableCoreFiles keeps a crash from writing the memory of this process, which holds the
// user's keys, into a file. Programs that it starts inherit the limit, and may raise it.
func DisableCoreFiles() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit) // a smaller limit is always allowed
	}
}
