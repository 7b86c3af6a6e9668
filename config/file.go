package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// readUserFile gives the file's bytes, nil if there is none.
func readUserFile(o Origin) ([]byte, *Error) {
	f, err := os.OpenFile(o.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return readAll(o, f, err)
}

// ReadWorkspaceFile gives the bytes of the workspace's file below root, nil if there is none. An error is an
// [*Error].
func ReadWorkspaceFile(root string) ([]byte, error) {
	data, err := readWorkspaceFile(Origin{Layer: LayerWorkspace, Name: WorkspaceFile}, root)
	if err != nil {
		return nil, err
	}
	return data, nil
}

// readWorkspaceFile is the same for the file below root. A link that leads out
// of root is refused: the bytes would be outside of the repository.
func readWorkspaceFile(o Origin, root string) ([]byte, *Error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return readAll(o, nil, err)
	}
	defer dir.Close()
	f, err := dir.OpenFile(filepath.FromSlash(WorkspaceFile), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if to, linked := dir.Readlink(filepath.FromSlash(WorkspaceFile)); linked == nil {
			return nil, fileError(o, "is a link to %q, which is not there", to)
		}
	}
	return readAll(o, f, err)
}

// readAll reads a file that was opened without waiting, so that a pipe cannot hang it.
func readAll(o Origin, f *os.File, err error) ([]byte, *Error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(o, "%s", reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fileError(o, "%s", reason(err))
	case !info.Mode().IsRegular():
		return nil, fileError(o, "is not a regular file")
	case info.Size() > maxFile:
		return nil, fileError(o, "is larger than 1 MiB")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fileError(o, "%s", reason(err))
	case len(data) > maxFile:
		return nil, fileError(o, "is larger than 1 MiB")
	}
	return data, nil
}

func fileError(o Origin, format string, args ...any) *Error {
	return &Error{Origin: o, Text: fmt.Sprintf(format, args...), kind: ErrFile}
}

// reason is the error without the path, which the origin names already.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return "cannot be read: " + path.Err.Error()
	}
	return "cannot be read: " + err.Error()
}
