package powercut

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// A FuseDisk shows one disk at a time to the kernel, as a file of a FUSE file system that this process
// serves. Beside it is a file for marks: a text that is written there is in the disk's log when the write
// returns.
type FuseDisk struct {
	dir    string
	server *fuse.Server

	mu   sync.Mutex
	disk *Disk
}

// The names of a FuseDisk's files.
const (
	diskFile = "disk"
	markFile = "marks"
)

// OpenFuseDisk serves a FuseDisk on an empty folder. All its disks have size bytes.
func OpenFuseDisk(dir string, size int64) (*FuseDisk, error) {
	// A child that inherited this descriptor would keep the kernel waiting for answers when this process is
	// gone, so this package opens it itself instead of the library.
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/fuse: %w", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)
	if err := unix.Mount("powercut", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("mount a disk's folder on %s: %w", dir, err)
	}
	b := &FuseDisk{dir: dir, disk: NewDisk(NewImage(nil))}
	b.server, err = fs.Mount(fmt.Sprintf("/dev/fd/%d", fd), &diskRoot{served: b, size: size}, &fs.Options{
		MountOptions: fuse.MountOptions{MaxWrite: 512 << 10, DisableXAttrs: true},
	})
	if err != nil {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		return nil, fmt.Errorf("serve a disk on %s: %w", dir, err)
	}
	if err := b.askOnce(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// askOnce has the kernel learn that the files cannot be polled. Else it would ask when Go opens one of them
// here, in a call in which Go's runtime does not let this process go on and answer.
func (b *FuseDisk) askOnce() error {
	fd, err := unix.Open(b.DiskPath(), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", b.DiskPath(), err)
	}
	defer unix.Close(fd)
	if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); err != nil {
		return fmt.Errorf("poll %s: %w", b.DiskPath(), err)
	}
	return nil
}

// Close takes the files away, also from devices that are still attached.
func (b *FuseDisk) Close() error {
	if err := unix.Unmount(b.dir, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", b.dir, err)
	}
	return nil
}

// DiskPath is the file that is the disk: the one inserted when it is opened.
func (b *FuseDisk) DiskPath() string { return filepath.Join(b.dir, diskFile) }

// MarkPath is the file that takes marks, a line at a time.
func (b *FuseDisk) MarkPath() string { return filepath.Join(b.dir, markFile) }

// Insert puts a disk in the place of the one before.
func (b *FuseDisk) Insert(d *Disk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.disk = d
}

func (b *FuseDisk) inserted() *Disk {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.disk
}

// diskRoot is the folder with both files.
type diskRoot struct {
	fs.Inode
	served *FuseDisk
	size   int64
}

var _ fs.NodeOnAdder = (*diskRoot)(nil)

func (r *diskRoot) OnAdd(ctx context.Context) {
	for name, node := range map[string]*bayFile{
		diskFile: {size: r.size, open: func() fs.FileHandle { return &openDisk{disk: r.served.inserted(), size: r.size} }},
		markFile: {open: func() fs.FileHandle { return &openMarks{served: r.served} }},
	} {
		r.AddChild(name, r.NewPersistentInode(ctx, node, fs.StableAttr{Mode: fuse.S_IFREG}), false)
	}
}

type bayFile struct {
	fs.Inode
	size int64
	open func() fs.FileHandle
}

var (
	_ fs.NodeOpener    = (*bayFile)(nil)
	_ fs.NodeGetattrer = (*bayFile)(nil)
)

// Open keeps the kernel from caching: it sees the disk's content, and the disk sees every write.
func (f *bayFile) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return f.open(), fuse.FOPEN_DIRECT_IO, 0
}

func (f *bayFile) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = fuse.S_IFREG|0o600, uint64(f.size)
	return 0
}

// quiet says that closing needs no answer. A program that starts another one closes files at a moment when
// this process may be unable to answer.
type quiet struct{}

func (quiet) Flush(context.Context) syscall.Errno { return syscall.ENOSYS }

// An openDisk stays with the disk that was there when it was opened.
type openDisk struct {
	quiet
	disk *Disk
	size int64
}

var (
	_ fs.FileReader  = (*openDisk)(nil)
	_ fs.FileWriter  = (*openDisk)(nil)
	_ fs.FileFsyncer = (*openDisk)(nil)
	_ fs.FileFlusher = (*openDisk)(nil)
)

func (o *openDisk) Read(_ context.Context, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	dest = dest[:min(int64(len(dest)), max(0, o.size-offset))]
	o.disk.read(dest, offset)
	return fuse.ReadResultData(dest), 0
}

func (o *openDisk) Write(_ context.Context, data []byte, offset int64) (uint32, syscall.Errno) {
	if offset+int64(len(data)) > o.size {
		return 0, syscall.ENOSPC
	}
	o.disk.write(data, offset)
	return uint32(len(data)), 0
}

func (o *openDisk) Fsync(context.Context, uint32) syscall.Errno {
	o.disk.flush()
	return 0
}

type openMarks struct {
	quiet
	served *FuseDisk
}

var (
	_ fs.FileWriter  = (*openMarks)(nil)
	_ fs.FileFlusher = (*openMarks)(nil)
)

func (o *openMarks) Write(_ context.Context, data []byte, _ int64) (uint32, syscall.Errno) {
	for line := range strings.Lines(string(data)) {
		o.served.inserted().mark(strings.TrimSuffix(line, "\n"))
	}
	return uint32(len(data)), 0
}
