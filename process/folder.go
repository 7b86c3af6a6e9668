package process

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"jp/internal/safefile"
)

// A folder is the registry's folder, open. Only this user can change it. Work in it goes by names within the
// open folder, so that it stays in this very folder.
type folder struct {
	dir  *os.File
	path string
}

// openFolder opens a folder that only this user may use.
func openFolder(path string) (*folder, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		if info, errL := os.Lstat(path); errL == nil && !info.IsDir() {
			err = fmt.Errorf("%s: %w: it is a link or a file; remove it", path, ErrNotOurs)
		}
		return nil, err
	}
	if err := private(dir); err != nil {
		dir.Close()
		return nil, err
	}
	return &folder{dir: dir, path: path}, nil
}

// private checks that only this user may use a folder.
func private(dir *os.File) error {
	info, err := dir.Stat()
	if err != nil {
		return err
	}
	if owner := ownerOf(info); owner != os.Geteuid() {
		return fmt.Errorf("%s: %w: it belongs to uid %d; remove it", dir.Name(), ErrNotOurs, owner)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s: %w: its mode is %04o; chmod 700 %s", dir.Name(), ErrNotOurs, mode, dir.Name())
	}
	return nil
}

// ownerOf is the uid that a file belongs to.
func ownerOf(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

func (d *folder) close() { d.dir.Close() }

func (d *folder) fd() int { return int(d.dir.Fd()) }

func (d *folder) join(name string) string { return filepath.Join(d.path, name) }

// alone runs work while other processes cannot put or remove names.
func (d *folder) alone(work func() error) error {
	if err := flock(d.dir, unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", d.path, err)
	}
	defer flock(d.dir, unix.LOCK_UN)
	return work()
}

// open opens a plain file of this user's. It neither follows links nor waits.
func (d *folder) open(name string, how int) (*os.File, error) {
	fd, err := unix.Openat(d.fd(), name, how|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%s: %w: it is a link; remove it", d.join(name), ErrNotOurs)
	case errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EISDIR):
		return nil, fmt.Errorf("%s: %w: it is not a plain file; remove it", d.join(name), ErrNotOurs)
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: d.join(name), Err: err}
	}
	_ = unix.SetNonblock(fd, false) // who inherits the file may expect it so
	f := os.NewFile(uintptr(fd), d.join(name))
	if err := plain(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// plain checks that a file is one, and this user's.
func plain(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: it is not a plain file; remove it", f.Name(), ErrNotOurs)
	}
	if owner := ownerOf(info); owner != os.Geteuid() {
		return fmt.Errorf("%s: %w: it belongs to uid %d; remove it", f.Name(), ErrNotOurs, owner)
	}
	return nil
}

// read reads a file that has at most limit bytes.
func (d *folder) read(name string, limit int64) ([]byte, error) {
	f, err := d.open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s: %w: it has more than %d bytes; remove it", f.Name(), ErrBadEntry, limit)
	}
	return text, err
}

// replace makes text the content of a file, atomically, as long as the power does not fail.
func (d *folder) replace(name string, text []byte) error {
	return safefile.ReplaceIn(files{d}, name, text, safefile.Options{Volatile: true})
}

// files is a folder as one in which files are replaced.
type files struct{ *folder }

func (d files) Create(name string, _ fs.FileMode) (safefile.File, error) {
	return d.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
}

func (d files) Rename(from, to string) error { return d.publish(from, to) }
func (d files) Remove(name string) error     { return d.remove(name) }
func (d files) Sync() error                  { return d.dir.Sync() }

// publish renames a temporary file to its final name.
func (d *folder) publish(temporary, name string) error {
	return d.alone(func() error {
		if err := unix.Renameat(d.fd(), temporary, d.fd(), name); err != nil {
			return &os.LinkError{Op: "rename", Old: d.join(temporary), New: d.join(name), Err: err}
		}
		return nil
	})
}

// remove removes names. Missing ones count as removed.
func (d *folder) remove(names ...string) error {
	for _, name := range names {
		err := unix.Unlinkat(d.fd(), name, 0)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return &os.PathError{Op: "remove", Path: d.join(name), Err: err}
		}
	}
	return nil
}

// temporaryPrefix begins the names of unpublished files.
const temporaryPrefix = ".new-"

// newName is a temporary name, at least as long as any final one.
func newName() string {
	random := make([]byte, 12)
	rand.Read(random)
	return temporaryPrefix + hex.EncodeToString(random)
}
