package safefile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
)

// MostRegular is how large an ordinary configuration or HEAD is at most, in bytes.
const MostRegular = 1 << 20

// ErrNotRegular reports something else than a regular file, or one that is too large.
var ErrNotRegular = errors.New("not an ordinary file")

// ReadRegular reads a small regular file, which any user may own: it neither waits for a pipe, nor reads a
// file without an end.
func ReadRegular(path string) ([]byte, error) {
	if path == os.DevNull {
		return nil, nil
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Size() > MostRegular {
		return nil, ErrNotRegular
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be another one by now
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadOpened(file, MostRegular)
}

// ReadOpened reads a file that was opened without waiting, of at most so many bytes.
func ReadOpened(file *os.File, most int64) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, ErrNotRegular
	}
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = text.ReadFrom(io.LimitReader(file, most+1))
	if int64(text.Len()) > most {
		return nil, ErrNotRegular
	}
	return text.Bytes(), err
}

func IsRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
