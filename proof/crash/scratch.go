package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// scratch makes a folder for all that a suite writes for a while. A suite that is ended leaves its files
// and mounts: release removes them.
func scratch() (dir string, release func() error, err error) {
	if dir, err = os.MkdirTemp("", "crash"); err != nil {
		return "", nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // other users come by, as in the one above
		return "", nil, err
	}
	return dir, func() error { return errors.Join(unmountBelow(dir), removeAll(dir)) }, nil
}

// removeAll removes a folder, even if tests have taken away its permissions.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	openFolders(dir)
	return os.RemoveAll(dir)
}

// openFolders restores the permissions for removing the files in folders.
func openFolders(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // removing reports the error
		}
		return nil
	})
}
