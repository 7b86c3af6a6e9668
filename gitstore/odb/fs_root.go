//go:build unix

package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"jp/gitcmd"
)

// rootFS uses only the parts of Go's library that work everywhere. Flushes are os.File's, which on macOS
// empties the drive's cache too.
type rootFS struct{}

type rootDir struct{ root *os.Root }

type rootFile struct{ *os.File }

func (rootFS) OpenDir(name string) (Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return rootDir{root}, nil
}

// FlushTraits are unknown.
func (rootFS) FlushTraits(_, _ Dir) FlushTraits { return FlushTraits{} }

// plain keeps a Root from following a link that stays inside it, and from
// waiting for the other end of a pipe.
func (d rootDir) plain(name string) error {
	info, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	case !info.Mode().IsRegular() && !info.IsDir():
		return &fs.PathError{Op: "open", Path: name, Err: syscall.EINVAL}
	}
	return nil
}

func (d rootDir) OpenDir(name string) (Dir, error) {
	if err := d.plain(name); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return rootDir{root}, nil
}

func (d rootDir) Open(name string) (File, error) {
	if err := d.plain(name); err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	return rootFile{f}, nil
}

func (d rootDir) Create(name string, perm uint32) (File, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(perm))
	if err != nil {
		return nil, err
	}
	return rootFile{f}, nil
}

func (d rootDir) Mkdir(name string) error      { return d.root.Mkdir(name, 0o777) }
func (d rootDir) Rename(from, to string) error { return d.root.Rename(from, to) }
func (d rootDir) Remove(name string) error     { return d.removeKind(name, false) }
func (d rootDir) RemoveDir(name string) error  { return d.removeKind(name, true) }
func (d rootDir) Close() error                 { return d.root.Close() }

func (d rootDir) removeKind(name string, dir bool) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() != dir {
		return fmt.Errorf("remove %s: %w", name, errors.ErrUnsupported)
	}
	return d.root.Remove(name)
}

func (d rootDir) Stat(name string) (Info, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func (d rootDir) List() ([]Entry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := f.ReadDir(-1)
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		entries = append(entries, Entry{Name: path.Base(e.Name()), Kind: fileModeKind(e.Type())})
	}
	return entries, err
}

func (d rootDir) Sync() error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func (f rootFile) Stat() (Info, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func (d rootDir) Mode() (uint32, error) {
	info, err := d.root.Stat(".")
	return systemMode(info, err)
}

func (d rootDir) SetMode(mode uint32) error { return d.root.Chmod(".", fileMode(mode)) }

func (f rootFile) Mode() (uint32, error) {
	info, err := f.File.Stat()
	return systemMode(info, err)
}

func (f rootFile) SetMode(mode uint32) error { return f.Chmod(fileMode(mode)) }

func systemMode(info fs.FileInfo, err error) (uint32, error) {
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return uint32(info.Mode().Perm()), nil
	}
	return uint32(st.Mode) & 0o7777, nil
}

func fileMode(mode uint32) fs.FileMode {
	out := fs.FileMode(mode & 0o777)
	for bit, flag := range map[uint32]fs.FileMode{syscall.S_ISUID: fs.ModeSetuid, syscall.S_ISGID: fs.ModeSetgid, syscall.S_ISVTX: fs.ModeSticky} {
		if mode&bit != 0 {
			out |= flag
		}
	}
	return out
}

func (f rootFile) StartWriteout() error { return nil }

// AwaitWriteout is a whole Sync, for want of a lesser call.
func (f rootFile) AwaitWriteout() error { return f.Sync() }

func infoOf(info fs.FileInfo) Info {
	out := Info{Kind: fileModeKind(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UnixNano(), Changed: gitcmd.ChangeTime(info).UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		out.ID = FileID{Dev: uint64(st.Dev), Inode: uint64(st.Ino)}
	}
	return out
}

func fileModeKind(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return KindFile
	case mode.IsDir():
		return KindDir
	case mode&fs.ModeSymlink != 0:
		return KindLink
	}
	return KindOther
}
