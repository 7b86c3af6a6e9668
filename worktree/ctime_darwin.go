package worktree

import "golang.org/x/sys/unix"

// changed is the time of the last change to a file, its name or its attributes;
// unlike the modification time, no program can set it.
func changed(st *unix.Stat_t) Mark {
	return Mark{Sec: int64(st.Ctim.Sec), Nsec: int64(st.Ctim.Nsec)}
}

// bootID names this start of the machine, or is "".
func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid") // "" only costs the cache
	return id
}

// modified is the time of the last change to a file's content.
func modified(st *unix.Stat_t) Mark {
	return Mark{Sec: int64(st.Mtim.Sec), Nsec: int64(st.Mtim.Nsec)}
}

// born is when a file was made, of a link itself and not of its target; zero where
// there is none.
func born(file string) Mark {
	var st unix.Stat_t
	if unix.Lstat(file, &st) != nil {
		return Mark{}
	}
	return Mark{Sec: int64(st.Btim.Sec), Nsec: int64(st.Btim.Nsec)}
}
