package gitstore

import (
	"io/fs"
	"syscall"
)

// inodeOf tells a folder from a later one at its place.
func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
