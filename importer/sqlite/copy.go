package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Limits of the copies.
const (
	maxFile = 4 << 30
	maxLog  = 1 << 30
)

// attempts is how often a database is copied that another program changes meanwhile.
const attempts = 5

var errMoving = errors.New("another program changes it all the time. End that program, and try again")

// copies makes copies of a database and of its log, which have no name and so end with their descriptors. log
// is nil if there is none.
func copies(path string) (file, log *os.File, err error) {
	for range attempts {
		file, log, err = copyOnce(path)
		if !errors.Is(err, errMoving) {
			return file, log, err
		}
	}
	return nil, nil, err
}

// copyOnce copies a database. The log may gain frames meanwhile, which it leaves out. The database itself,
// and the beginning of the log, must stay as they are.
func copyOnce(path string) (file, log *os.File, err error) {
	defer func() {
		if err != nil {
			closeAll(file, log)
			file, log = nil, nil
		}
	}()
	in, err := regular(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	before, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}
	if hot(path + "-journal") {
		return nil, nil, errors.New("a change of it is not complete. Open it once with the program that it belongs to, and try again")
	}
	logIn, err := regular(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("its log: %w", err)
	}
	var head []byte
	if logIn != nil {
		defer logIn.Close()
		head = headOf(logIn)
	}
	if file, err = duplicate(in, maxFile); err != nil {
		return file, nil, err
	}
	if logIn != nil {
		if log, err = duplicate(logIn, maxLog); err != nil {
			return file, log, err
		}
		if string(headOf(logIn)) != string(head) {
			return file, log, errMoving
		}
	} else if _, err := os.Lstat(path + "-wal"); err == nil {
		return file, log, errMoving
	}
	after, err := in.Stat()
	if err == nil && (after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())) {
		err = errMoving
	}
	return file, log, err
}

// headOf is the head of a log, which changes when the log restarts.
func headOf(log *os.File) []byte {
	head := make([]byte, logHead)
	n, _ := log.ReadAt(head, 0) // a shorter file is invalid
	return head[:n]
}

// hot reports whether a journal holds the former pages of an incomplete change.
func hot(path string) bool {
	journal, err := regular(path)
	if err != nil {
		return false
	}
	defer journal.Close()
	var magic [8]byte
	_, err = journal.ReadAt(magic[:], 0)
	return err == nil && magic == [8]byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}
}

func regular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a named pipe waits for its writer
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return file, nil
}

func duplicate(in *os.File, most int64) (*os.File, error) {
	large := fmt.Errorf("%s is over %d MiB", in.Name(), most>>20)
	if info, err := in.Stat(); err != nil || info.Size() > most {
		return nil, cmp.Or(err, large)
	}
	out, err := os.CreateTemp("", "jp-import-*")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(out.Name()); err != nil {
		return out, err
	}
	n, err := io.Copy(out, io.NewSectionReader(in, 0, most+1))
	if err == nil && n > most {
		err = large
	}
	return out, err
}

func closeAll(files ...*os.File) (err error) {
	for _, f := range files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
