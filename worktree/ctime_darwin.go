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

// fileIDOf gives the identity of a file, of a link itself and not of its target.
func fileIDOf(file string) (fileID, error) {
	var st unix.Stat_t
	err := unix.Lstat(file, &st)
	return fileID{inode: st.Ino, born: Mark{Sec: int64(st.Btim.Sec), Nsec: int64(st.Btim.Nsec)}}, err
}
