// Package plainfile reads small files that may be anybody's.
package plainfile

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// most is how large an ordinary configuration or HEAD is at most, in bytes.
const most = 1 << 20

// ErrUnusual says that something is no regular file, or larger than those are.
var ErrUnusual = errors.New("not an ordinary file")

// Read reads a file: no pipe holds it up, and none without an end fills the memory.
func Read(path string) ([]byte, error) {
	if path == os.DevNull {
		return nil, nil
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Size() > most {
		return nil, ErrUnusual
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be another one by now
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return All(file, most)
}

// All reads a file that was opened without waiting, of at most so many bytes.
func All(file *os.File, most int64) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, ErrUnusual
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if int64(len(text)) > most {
		return nil, ErrUnusual
	}
	return text, err
}
