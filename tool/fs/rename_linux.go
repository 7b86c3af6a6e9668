package fs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames a file to a free name.
func renameNew(from *os.Root, old string, to *os.Root, name string) error {
	return betweenFolders(from, to, func(fromFD, toFD int) error {
		err := unix.Renameat2(fromFD, old, toFD, name, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
			return renameChecked(fromFD, old, to, toFD, name) // the file system lacks RENAME_NOREPLACE
		}
		return err
	})
}
