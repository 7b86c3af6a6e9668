package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// maxHandles is the number of files of packs that are open at the same time.
const maxHandles = 48

// errVanished means that a file that was there has been removed or replaced.
var errVanished = errors.New("pack has been removed")

// handles keeps the files that were used last open, and closes the others.
type handles struct {
	mu     sync.Mutex
	open   []*handle // the one used last stands last
	closed bool
}

// handle is a file that is opened when it is read. Once open it outlives the
// removal of its name.
type handle struct {
	set  *handles
	path string
	info fs.FileInfo
	file *os.File // guarded by set.mu
}

// handle opens a regular file. A file of another type might block a reader.
func (h *handles) handle(path string) (*handle, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a file", path)
	}
	return &handle{set: h, path: path, info: info}, nil
}

func (h *handle) size() int64 { return h.info.Size() }

// ReadAt reads from the file, opening it again if it had to make room.
func (h *handle) ReadAt(p []byte, off int64) (n int, err error) {
	for range 8 {
		var f *os.File
		if f, err = h.use(); err != nil {
			return 0, err
		}
		if n, err = f.ReadAt(p, off); !errors.Is(err, os.ErrClosed) {
			return n, err
		}
	}
	return n, err
}

func (h *handle) use() (*os.File, error) {
	s := h.set
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, os.ErrClosed
	}
	if n := len(s.open); n > 0 && s.open[n-1] == h {
		return h.file, nil
	}
	if h.file == nil {
		if err := h.reopen(); err != nil {
			return nil, err
		}
	} else {
		s.open = slices.DeleteFunc(s.open, func(o *handle) bool { return o == h })
	}
	s.open = append(s.open, h)
	if len(s.open) > maxHandles {
		s.open[0].file.Close()
		s.open[0].file = nil
		s.open = slices.Delete(s.open, 0, 1)
	}
	return h.file, nil
}

func (h *handle) reopen() error {
	f, err := os.Open(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errVanished, err)
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil || !os.SameFile(info, h.info) || info.Size() != h.info.Size() {
		f.Close()
		return errors.Join(errVanished, err)
	}
	h.file = f
	return nil
}

// release closes the file until the next read.
func (h *handle) release() {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	if h.file != nil {
		h.file.Close()
		h.file = nil
		h.set.open = slices.DeleteFunc(h.set.open, func(o *handle) bool { return o == h })
	}
}

func (h *handles) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var faults []error
	for _, o := range h.open {
		faults = append(faults, o.file.Close())
		o.file = nil
	}
	h.open = nil
	return errors.Join(faults...)
}
