package fs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// betweenFolders calls rename with the descriptors of two folders. A taken name
// is reported as [ErrExists].
func betweenFolders(from, to *os.Root, rename func(fromFD, toFD int) error) error {
	source, err := from.Open(".")
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := to.Open(".")
	if err != nil {
		return err
	}
	defer target.Close()
	err = rename(int(source.Fd()), int(target.Fd()))
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}

// renameChecked looks before it renames: a file that appears between the two is
// replaced.
func renameChecked(fromFD int, old string, to *os.Root, toFD int, name string) error {
	if _, err := to.Lstat(name); err == nil {
		return ErrExists
	}
	return unix.Renameat(fromFD, old, toFD, name)
}
