package powercut

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// A FileSystem is a kind that can be made on a device and mounted.
type FileSystem struct {
	Name    string
	Type    string   // as mount(2) knows it
	Make    []string // the program that makes it, and its arguments before the device
	Options string   // of the mount
	Size    int64    // of its disk, in bytes
	Unit    int      // bytes that it relies on the disk to write as a whole; 0: a sector
}

// The file systems on which jp's promise is tried. Each is as its tool makes it, but small: discards are
// off because a disk in memory gains nothing.
var (
	Ext4 = FileSystem{
		Name: "ext4", Type: "ext4", Size: 96 << 20,
		Make: []string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-N", "16384", "-J", "size=8", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"},
	}
	Ext4FastCommit = FileSystem{
		Name: "ext4 with fast_commit", Type: "ext4", Size: Ext4.Size,
		Make: append(Ext4.Make[:len(Ext4.Make):len(Ext4.Make)], "-O", "fast_commit"),
	}
	Ext4Writeback = FileSystem{
		Name: "ext4, data=writeback", Type: "ext4", Size: Ext4.Size,
		Make: Ext4.Make, Options: "data=writeback",
	}
	XFS = FileSystem{
		Name: "xfs", Type: "xfs", Size: 300 << 20, // the least that its tool makes
		Make: []string{"mkfs.xfs", "-q", "-f", "-K"},
	}
	// With any writer, btrfs does not mount after a cut in the middle of a new super block, which is 4 KiB.
	Btrfs = FileSystem{
		Name: "btrfs", Type: "btrfs", Size: 256 << 20, Unit: 4096,
		Make: []string{"mkfs.btrfs", "-q", "-f", "-K"}, Options: "nodiscard",
	}
)

// Missing names the part for the file system that this machine lacks, "" if it has all.
func (f FileSystem) Missing() string {
	if _, err := exec.LookPath(f.Make[0]); err != nil {
		return f.Make[0] + " is not installed"
	}
	if !f.known() {
		_ = exec.Command("modprobe", "-q", f.Type).Run() // the test after it decides
	}
	if !f.known() {
		return "this kernel does not know " + f.Type
	}
	return ""
}

func (f FileSystem) known() bool {
	types, err := os.ReadFile("/proc/filesystems")
	return err == nil && bytes.Contains(types, []byte("\t"+f.Type+"\n"))
}

// Format makes the file system on a device or in a file.
func (f FileSystem) Format(path string) error {
	args := append(f.Make[1:len(f.Make):len(f.Make)], path)
	if out, err := exec.Command(f.Make[0], args...).CombinedOutput(); err != nil {
		return fmt.Errorf("make %s on %s: %w: %s", f.Name, path, err, bytes.TrimSpace(out))
	}
	return nil
}

// Mount mounts a device that has the file system; a cut is recovered from.
func (f FileSystem) Mount(d *Device, dir string) error {
	if err := unix.Mount(d.Path, dir, f.Type, 0, f.Options); err != nil {
		return fmt.Errorf("mount %s: %w", f.Name, err)
	}
	return nil
}

// Unmount unmounts a device from a folder. The device may have another disk's content when it is mounted
// the next time.
func (f FileSystem) Unmount(d *Device, dir string) error {
	if err := unix.Unmount(dir, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	if f.Type == "btrfs" {
		return forget(d)
	}
	return nil
}

// Drop takes a mount away that is in use or broken.
func (f FileSystem) Drop(dir string) { _ = unix.Unmount(dir, unix.MNT_DETACH) }
