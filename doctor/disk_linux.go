package doctor

import (
	"golang.org/x/sys/unix"
)

// fileSystems are names by the numbers that the kernel gives.
var fileSystems = map[int64]Disk{
	unix.EXT4_SUPER_MAGIC:      {FileSystem: "ext2/3/4"},
	unix.XFS_SUPER_MAGIC:       {FileSystem: "xfs"},
	unix.BTRFS_SUPER_MAGIC:     {FileSystem: "btrfs"},
	unix.F2FS_SUPER_MAGIC:      {FileSystem: "f2fs"},
	unix.OVERLAYFS_SUPER_MAGIC: {FileSystem: "overlayfs"},
	unix.ECRYPTFS_SUPER_MAGIC:  {FileSystem: "ecryptfs"},
	unix.MSDOS_SUPER_MAGIC:     {FileSystem: "vfat"},
	unix.EXFAT_SUPER_MAGIC:     {FileSystem: "exfat"},
	unix.FUSE_SUPER_MAGIC:      {FileSystem: "fuse"},
	0x2fc12fc1:                 {FileSystem: "zfs"},
	0xca451a4e:                 {FileSystem: "bcachefs"},
	unix.TMPFS_MAGIC:           {FileSystem: "tmpfs", Memory: true},
	unix.RAMFS_MAGIC:           {FileSystem: "ramfs", Memory: true},
	unix.NFS_SUPER_MAGIC:       {FileSystem: "nfs", Network: true},
	unix.SMB_SUPER_MAGIC:       {FileSystem: "smb", Network: true},
	unix.SMB2_SUPER_MAGIC:      {FileSystem: "smb", Network: true},
	unix.CIFS_SUPER_MAGIC:      {FileSystem: "cifs", Network: true},
	unix.V9FS_MAGIC:            {FileSystem: "9p", Network: true},
	unix.CEPH_SUPER_MAGIC:      {FileSystem: "ceph", Network: true},
	unix.AFS_SUPER_MAGIC:       {FileSystem: "afs", Network: true},
	unix.CODA_SUPER_MAGIC:      {FileSystem: "coda", Network: true},
}

// diskOf is the file system that a folder is on.
func diskOf(dir string) Disk {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return Disk{}
	}
	return fileSystems[int64(uint32(stat.Type))]
}
