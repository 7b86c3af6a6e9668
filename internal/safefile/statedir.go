package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// StateDirName is the name of jp's folder in a git directory.
const StateDirName = "jp"

// A LinkError says that something else stands in the place of a folder or file of jp's.
type LinkError struct {
	Path string
	File bool // it is the place of a file
}

// Error names it.
func (e *LinkError) Error() string {
	if e.File {
		return e.Path + " is a symbolic link in the place of a file of jp: jp does not write there"
	}
	return fmt.Sprintf("%s is a symbolic link or a file in the place of a folder of jp: jp does not write there", e.Path)
}

// A StateDir is a git directory, to open the folder jp in it and those below that.
//
// Programs that are confined may write to a git directory, and jp, which is not confined, writes texts of
// others there. A symbolic link in the place of one of these folders could lead these texts anywhere, so jp
// does not follow any: it opens each folder in the one above it.
//
// Share gives files for several users of the repository the mode that they need. Nil leaves it to the umask.
//
// Key is the user's key for sealed files. Without it they can be neither read nor written. Told gets each file
// that is left unused.
type StateDir struct {
	GitDir string
	Share  Share
	Key    func() ([]byte, error)
	Told   func(*SealError)
	Own    string // a folder of the user's that confined programs cannot write, or ""
}

// A StateFolder is one of jp's, open. Files in it have plain names, and it does not follow links in their
// places.
type StateFolder struct {
	dir   *os.File
	path  string
	share Share
}

var _ Folder = (*StateFolder)(nil)

// Open opens jp's folder, or one below it, and makes the missing ones below the git directory. The error is a
// *LinkError if a link is in the way.
func (p StateDir) Open(below ...string) (*StateFolder, error) { return p.open(true, below) }

func (p StateDir) open(mayMake bool, below []string) (*StateFolder, error) {
	at, err := os.Open(p.GitDir)
	if err != nil {
		return nil, err
	}
	path := p.GitDir
	for _, name := range append([]string{StateDirName}, below...) {
		path = filepath.Join(path, name)
		next, err := p.step(at, name, path, mayMake)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return &StateFolder{dir: at, path: path, share: p.Share}, nil
}

// step opens a folder in an open one.
func (p StateDir) step(in *os.File, name, path string, mayMake bool) (*os.File, error) {
	for made := false; ; {
		fd, err := unix.Openat(int(in.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch {
		case err == nil:
			dir := os.NewFile(uintptr(fd), path)
			if made {
				return shared(dir, p.Share)
			}
			return dir, nil
		case err == unix.ELOOP, err == unix.ENOTDIR:
			return nil, &LinkError{Path: path}
		case err == unix.EINTR:
			continue
		case err != unix.ENOENT || !mayMake:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		err = unix.Mkdirat(int(in.Fd()), name, 0o777)
		if err != nil && err != unix.EEXIST {
			return nil, &fs.PathError{Op: "mkdir", Path: path, Err: err}
		}
		made = err == nil
	}
}

// Close frees the folder.
func (f *StateFolder) Close() error { return f.dir.Close() }

// OpenFile is os.OpenFile for a file of the folder.
func (f *StateFolder) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	path := filepath.Join(f.path, name)
	for {
		fd, err := unix.Openat(int(f.dir.Fd()), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(mode.Perm()))
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case err != unix.EINTR:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// OpenShared opens a file to read and write, and makes it, for all users of the repository, if it is missing.
func (f *StateFolder) OpenShared(name string, mode fs.FileMode) (*os.File, error) {
	for {
		file, err := f.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, unix.ELOOP) {
			return nil, &LinkError{Path: filepath.Join(f.path, name), File: true}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		file, err = f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		switch {
		case err == nil:
			return shared(file, f.share)
		case !errors.Is(err, fs.ErrExist): // else somebody else was faster
			return nil, err
		}
	}
}

// Create implements [Folder].
func (f *StateFolder) Create(name string, mode fs.FileMode) (File, error) {
	return f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// Rename implements [Folder].
func (f *StateFolder) Rename(from, to string) error {
	if err := unix.Renameat(int(f.dir.Fd()), from, int(f.dir.Fd()), to); err != nil {
		return &os.LinkError{Op: "rename", Old: filepath.Join(f.path, from), New: filepath.Join(f.path, to), Err: err}
	}
	return nil
}

// Remove implements [Folder].
func (f *StateFolder) Remove(name string) error {
	if err := unix.Unlinkat(int(f.dir.Fd()), name, 0); err != nil {
		return &fs.PathError{Op: "remove", Path: filepath.Join(f.path, name), Err: err}
	}
	return nil
}

// Sync implements [Folder].
func (f *StateFolder) Sync() error {
	if err := f.dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) { // if folders cannot be flushed
		return err
	}
	return nil
}

// Check reports a *LinkError for a link in a folder's place. It never makes folders. It is for callers that
// have to hand a path on.
func (p StateDir) Check(below ...string) error {
	f, err := p.open(false, below)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Replace is [ReplaceIn] for a file in a folder below jp's.
func (p StateDir) Replace(folder, name string, data []byte, o Options) error {
	f, err := p.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return ReplaceIn(f, name, data, o)
}

// Read reads a file in a folder below jp's.
func (p StateDir) Read(folder, name string) ([]byte, error) {
	f, err := p.open(false, []string{folder})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := f.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadOpened(file, mostRead)
}

// mostRead is more than jp keeps in one file for itself, in bytes.
const mostRead = 64 << 20

// Remove removes a file in a folder below jp's, if it exists.
func (p StateDir) Remove(folder, name string) error {
	f, err := p.open(false, []string{folder})
	if err == nil {
		defer f.Close()
		err = f.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Empty removes all files in a folder below jp's, also unfinished ones. The folder may be missing. A process
// that is about to replace one of the files fails.
func (p StateDir) Empty(folder string) error {
	f, err := p.open(false, []string{folder})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.dir.Readdirnames(-1)
	for _, name := range names {
		if gone := f.Remove(name); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
