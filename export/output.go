package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"jp/internal/safefile"
	"jp/internal/safetext"
)

// FileModes are those of files that the user asked for.
var FileModes = safefile.Options{Mode: 0o666, FolderMode: 0o777}

// WriteFile writes the user's output file. It replaces a regular file as a whole, at the end of links. It
// writes into any other file, such as a pipe, which stays.
func WriteFile(path string, write func(io.Writer) error) error {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	}
	info, err := os.Stat(path)
	if folder := filepath.Dir(path); err != nil {
		if _, missing := os.Stat(folder); errors.Is(missing, fs.ErrNotExist) {
			return fmt.Errorf("there is no folder %s", safetext.Show(folder))
		}
	}
	switch {
	case err != nil || info.Mode().IsRegular():
		return safefile.ReplaceWith(path, write, FileModes)
	case info.IsDir():
		return unix.EISDIR
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
