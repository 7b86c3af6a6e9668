//go:build unix && !linux

package fs

import "os"

// renameNew renames a file to a free name.
func renameNew(from *os.Root, old string, to *os.Root, name string) error {
	return betweenFolders(from, to, func(fromFD, toFD int) error {
		return renameChecked(fromFD, old, to, toFD, name)
	})
}
