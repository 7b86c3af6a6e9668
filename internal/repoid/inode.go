package repoid

import (
	"io/fs"
	"syscall"
)

// inode tells a folder from a later one at its place.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
