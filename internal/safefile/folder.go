package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// osFolder is a folder of the operating system, by its path.
type osFolder string

func (d osFolder) join(name string) string { return filepath.Join(string(d), name) }

func (d osFolder) Create(name string, mode fs.FileMode) (File, error) {
	return os.OpenFile(d.join(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func (d osFolder) Rename(from, to string) error { return os.Rename(d.join(from), d.join(to)) }
func (d osFolder) link(from, to string) error   { return os.Link(d.join(from), d.join(to)) }
func (d osFolder) Remove(name string) error     { return os.Remove(d.join(name)) }

func (d osFolder) Sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // if folders cannot be flushed
		return err
	}
	return nil
}

// makeFolders makes a folder and those above it. It flushes the folders that got a new one, since a file is
// only as safe as the way to it.
func makeFolders(dir string, o Options, flush func(osFolder) error) error {
	there := dir
	for there != filepath.Dir(there) {
		if _, err := os.Stat(there); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		there = filepath.Dir(there)
	}
	if there == dir {
		return nil
	}
	if err := MakeFolders(dir, o.folderMode(), o.Share); err != nil {
		return err
	}
	for at := dir; at != there && !o.Volatile; {
		at = filepath.Dir(at)
		if err := flush(osFolder(at)); err != nil {
			return err
		}
	}
	return nil
}

// keptMode is the mode that the file keeps, nil if it gets a new one.
func (o Options) keptMode(path string) *fs.FileMode {
	if !o.KeepMode {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	mode := info.Mode().Perm()
	return &mode
}
