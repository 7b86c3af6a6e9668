package worktree

import "golang.org/x/sys/unix"

// bootID names this start of the machine, or is "".
func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid") // "" only costs the cache
	return id
}

// born is when a file was made, of a link itself and not of its target; zero where
// there is none.
func born(file string) Timestamp {
	var st unix.Stat_t
	if unix.Lstat(file, &st) != nil {
		return Timestamp{}
	}
	return Timestamp{Sec: int64(st.Btim.Sec), Nsec: int64(st.Btim.Nsec)}
}
