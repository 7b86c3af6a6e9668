//go:build !linux

package doctor

import (
	"slices"

	"golang.org/x/sys/unix"
)

// diskOf is the file system that a folder is on.
func diskOf(dir string) Disk {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return Disk{}
	}
	name := unix.ByteSliceToString(stat.Fstypename[:])
	return Disk{FileSystem: name, Network: slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, name)}
}
