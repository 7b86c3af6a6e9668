package worktree

import "golang.org/x/sys/unix"

// bootID names this start of the machine, or is "".
func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid") // "" only costs the cache
	return id
}

// born is the time when a file was made, of a link itself instead of its target; zero if it is missing.
func born(file string) Timestamp {
	var st unix.Stat_t
	if unix.Lstat(file, &st) != nil {
		return Timestamp{}
	}
	return Timestamp{Sec: int64(st.Btim.Sec), Nsec: int64(st.Btim.Nsec)}
}
