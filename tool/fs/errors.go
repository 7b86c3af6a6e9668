package fs

import (
	"errors"
	"fmt"
	"io/fs"

	"jp/internal/charset"
)

// Reasons to refuse a path. The tools report them as results for the model, wrapped with the path.
var (
	ErrOutside   = errors.New("it is outside the workspace")
	ErrProtected = errors.New("it is protected: .git, .jp and jp's own files are not for tools")
	ErrInvalid   = errors.New("it is not a path")
	ErrLoop      = errors.New("too many symbolic links")
	ErrMoved     = errors.New("it was replaced while it was in use")
	ErrNotFile   = errors.New("it is not a regular file")
	ErrDirectory = errors.New("it is a directory")
	ErrBinary    = charset.ErrBinary
	ErrTooLarge  = errors.New("it is too large")
	ErrExists    = errors.New("it exists already")
)

// Errors of the system in the words that a model knows.
var (
	errNoSuchFile = fmt.Errorf("no such file%w", silent{fs.ErrNotExist})
	errFolderName = errors.New("it names a folder: name the file in it")
	errNotFolder  = errors.New("a file stands where a folder is needed")
)

// silent is an error that errors.Is finds without showing in the text.
type silent struct{ error }

func (silent) Error() string { return "" }

func (s silent) Unwrap() error { return s.error }

// reason drops the operation and the inner path from an error of the system.
func reason(err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errNoSuchFile
	}
	return err
}
