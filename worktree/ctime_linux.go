package worktree

import "golang.org/x/sys/unix"

// changed is the time of the last change to a file, its name or its attributes;
// unlike the modification time, no program can set it.
func changed(st *unix.Stat_t) Mark {
	return Mark{Sec: int64(st.Ctim.Sec), Nsec: int64(st.Ctim.Nsec)}
}

// bootID names this start of the machine, or is "".
func bootID() string { return firstLine("/proc/sys/kernel/random/boot_id") }

// modified is the time of the last change to a file's content.
func modified(st *unix.Stat_t) Mark {
	return Mark{Sec: int64(st.Mtim.Sec), Nsec: int64(st.Mtim.Nsec)}
}

// fileIDOf gives the identity of a file, of a link itself and not of its target.
func fileIDOf(file string) (fileID, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, file, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	id := fileID{inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.born = Mark{Sec: st.Btime.Sec, Nsec: int64(st.Btime.Nsec)}
	}
	return id, err
}
