package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Share gives a new file or folder the mode that other users of a machine need, as soon as its maker has
// it. Existing ones keep their mode. A nil Share leaves the mode to the umask.
type Share func(*os.File) error

// OpenShared opens a file to read and write, and makes it if it is missing. It does not follow links.
func OpenShared(path string, mode fs.FileMode, share Share) (*os.File, error) {
	const flags = os.O_RDWR | unix.O_NOFOLLOW
	if share == nil {
		return os.OpenFile(path, flags|os.O_CREATE, mode)
	}
	for {
		f, err := os.OpenFile(path, flags, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue // another process was faster
		}
		if err != nil {
			return nil, err
		}
		return shared(f, share)
	}
}

// MakeFolders is [os.MkdirAll] that shares the new folders.
func MakeFolders(path string, mode fs.FileMode, share Share) error {
	if share == nil {
		return os.MkdirAll(path, mode)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if above := filepath.Dir(path); above != path {
		if err := MakeFolders(above, mode, share); err != nil {
			return err
		}
	}
	err := os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(path, mode) // which describes the error
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	if f, err = shared(f, share); err != nil {
		return err
	}
	return f.Close()
}

// shared shares a file that this process has just made, or closes it.
func shared(f *os.File, share Share) (*os.File, error) {
	if share == nil {
		return f, nil
	}
	if err := share(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
