//go:build !linux

package main

import (
	"slices"

	"golang.org/x/sys/unix"

	"jp/doctor"
)

// diskOf is the file system that a folder is on.
func diskOf(dir string) doctor.Disk {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return doctor.Disk{}
	}
	name := unix.ByteSliceToString(stat.Fstypename[:])
	return doctor.Disk{FileSystem: name, Network: slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, name)}
}
