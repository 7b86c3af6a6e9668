//go:build !linux

package gitcmd

import (
	"os"
	"time"
)

// changeTime is the time of the last change to a file.
func changeTime(info os.FileInfo) time.Time { return info.ModTime() }
