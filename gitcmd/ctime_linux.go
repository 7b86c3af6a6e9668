package gitcmd

import (
	"os"
	"syscall"
	"time"
)

// ChangeTime is the time of the last change to a file or its attributes.
func ChangeTime(info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))
	}
	return info.ModTime()
}
