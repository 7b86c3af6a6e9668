package worktree

import "golang.org/x/sys/unix"

// bootID names this start of the machine, or is "".
func bootID() string { return firstLine("/proc/sys/kernel/random/boot_id") }

// born is the time when a file was made, of a link itself instead of its target; zero if unknown or
// missing.
func born(file string) Timestamp {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, file, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return Timestamp{}
	}
	return Timestamp{Sec: st.Btime.Sec, Nsec: int64(st.Btime.Nsec)}
}
