package gitcmd

import (
	"os"
	"syscall"
	"time"
)

// ChangeTime is the time of the last change to a file or its attributes.
func ChangeTime(info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return info.ModTime()
}
