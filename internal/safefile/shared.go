package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Share gives what was just made the mode that other users of a machine need:
// what it says of a new file or folder holds as soon as its maker has it. The mode
// of what was there before stays. A nil Share leaves what the umask gives.
type Share func(*os.File) error

// OpenShared opens a file to read and write, and makes it where there is none. It follows
// no link.
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

// MakeFolders is [os.MkdirAll] that shares what it makes.
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
		return os.MkdirAll(path, mode) // which says what is wrong with it
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

// shared shares what this process has just made, or closes it.
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
