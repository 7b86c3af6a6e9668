package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// OS is the operating system's file system.
func OS() FS { return osFS{} }

type osFS struct{}

type osDir int

type osFile int

const statMask = unix.STATX_TYPE | unix.STATX_SIZE | unix.STATX_MTIME | unix.STATX_CTIME | unix.STATX_INO | unix.STATX_BTIME

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// retry repeats a system call that a signal has interrupted.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func openat(dir int, name string, flags int, perm uint32) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, perm)
		return err
	})
	return fd, pathError("open", name, err)
}

func (osFS) OpenDir(path string) (Dir, error) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return osDir(fd), nil
}

func (d osDir) OpenDir(name string) (Dir, error) {
	fd, err := openat(int(d), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return osDir(fd), nil
}

// openPath is openat that follows no link anywhere in a path. Kernels before 5.6 and
// some sandboxes do not have it.
func openPath(dir int, name string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: flags | unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	err = retry(func() error {
		fd, err = unix.Openat2(dir, name, &how)
		return err
	})
	if err == unix.ENOSYS || err == unix.EPERM {
		err = errors.ErrUnsupported
	}
	return fd, pathError("open", name, err)
}

func (d osDir) OpenDirPath(name string) (Dir, error) {
	fd, err := openPath(int(d), name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return osDir(fd), nil
}

func (d osDir) OpenPath(name string) (File, error) {
	fd, err := openPath(int(d), name, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return osFile(fd), nil
}

func (d osDir) Open(name string) (File, error) {
	fd, err := openat(int(d), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return osFile(fd), nil
}

func (d osDir) Create(name string, perm uint32) (File, error) {
	fd, err := openat(int(d), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return osFile(fd), nil
}

func (d osDir) Mkdir(name string) error {
	return pathError("mkdir", name, unix.Mkdirat(int(d), name, 0o777))
}

func (d osDir) Rename(from, to string) error {
	if err := unix.Renameat(int(d), from, int(d), to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func (d osDir) Remove(name string) error {
	return pathError("remove", name, unix.Unlinkat(int(d), name, 0))
}

func (d osDir) RemoveDir(name string) error {
	return pathError("remove", name, unix.Unlinkat(int(d), name, unix.AT_REMOVEDIR))
}

func (d osDir) Stat(name string) (Info, error) {
	return statx(int(d), name, unix.AT_SYMLINK_NOFOLLOW)
}

func (d osDir) Close() error { return unix.Close(int(d)) }

// Sync does not believe fsync alone: an xfs that an error of its disk has shut
// down answers for a directory that all is flushed, having dropped it. Any look
// at the directory fails then.
func (d osDir) Sync() error {
	if err := fsync(int(d)); err != nil {
		return err
	}
	_, err := statx(int(d), "", unix.AT_EMPTY_PATH)
	return err
}

// List opens the directory again: a shared handle has one position for all.
func (d osDir) List() ([]Entry, error) {
	fd, err := openat(int(d), ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var entries []Entry
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return entries, pathError("list", ".", err)
		}
		entries = appendEntries(entries, buf[:n])
	}
}

// appendEntries decodes what getdents64 has written: inode and offset in eight
// bytes each, the record's length in two, the type in one, the name.
func appendEntries(entries []Entry, buf []byte) []Entry {
	const header = 19
	for len(buf) > header {
		size := binary.NativeEndian.Uint16(buf[16:])
		name := buf[header:size]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if s := string(name); s != "." && s != ".." {
			entries = append(entries, Entry{Name: s, Kind: direntKind(buf[18])})
		}
		buf = buf[size:]
	}
	return entries
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return KindFile
	case unix.DT_DIR:
		return KindDir
	case unix.DT_LNK:
		return KindLink
	}
	return KindOther
}

func statx(dir int, name string, flags int) (Info, error) {
	var st unix.Statx_t
	if err := unix.Statx(dir, name, flags, statMask, &st); err != nil {
		return Info{}, pathError("stat", name, err)
	}
	return Info{
		Kind:    modeKind(uint32(st.Mode)),
		Size:    int64(st.Size),
		ModTime: nanoseconds(st.Mtime),
		Changed: nanoseconds(st.Ctime),
		ID: FileID{
			Dev:   unix.Mkdev(st.Dev_major, st.Dev_minor),
			Inode: st.Ino,
			Birth: nanoseconds(st.Btime),
		},
	}, nil
}

func nanoseconds(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }

func modeKind(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile
	case unix.S_IFDIR:
		return KindDir
	case unix.S_IFLNK:
		return KindLink
	}
	return KindOther
}

func fsync(fd int) error {
	return os.NewSyscallError("fsync", retry(func() error { return unix.Fsync(fd) }))
}

func (f osFile) Read(p []byte) (n int, err error) {
	err = retry(func() error {
		n, err = unix.Read(int(f), p)
		return err
	})
	if err != nil {
		return 0, os.NewSyscallError("read", err)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f osFile) Write(p []byte) (n int, err error) {
	err = retry(func() error {
		n, err = unix.Write(int(f), p)
		return err
	})
	return max(n, 0), os.NewSyscallError("write", err)
}

func (f osFile) Stat() (Info, error) { return statx(int(f), "", unix.AT_EMPTY_PATH) }
func (f osFile) Sync() error         { return fsync(int(f)) }
func (f osFile) Close() error        { return unix.Close(int(f)) }

func (d osDir) Mode() (uint32, error)      { return modeOf(int(d)) }
func (d osDir) SetMode(mode uint32) error  { return setMode(int(d), mode) }
func (f osFile) Mode() (uint32, error)     { return modeOf(int(f)) }
func (f osFile) SetMode(mode uint32) error { return setMode(int(f), mode) }

func modeOf(fd int) (uint32, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, os.NewSyscallError("fstat", err)
	}
	return st.Mode & 0o7777, nil
}

func setMode(fd int, mode uint32) error {
	return os.NewSyscallError("fchmod", retry(func() error { return unix.Fchmod(fd, mode) }))
}

func (f osFile) StartWriteout() error {
	return syncRange(f, unix.SYNC_FILE_RANGE_WRITE)
}

func (f osFile) AwaitWriteout() error {
	return syncRange(f, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}

func syncRange(f osFile, flags int) error {
	err := retry(func() error { return unix.SyncFileRange(int(f), 0, 0, flags) })
	return os.NewSyscallError("sync_file_range", err)
}
