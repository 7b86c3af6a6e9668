package instructions

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Dir is a folder on the disk. Links cannot lead reads out of it.
type Dir struct {
	Root   *os.Root
	Format string // of git's object ids: "sha1" or "sha256"
}

var _ Tree = Dir{}

// Look implements [Tree].
func (d Dir) Look(path string) (Entry, error) {
	info, err := d.Root.Lstat(filepath.FromSlash(path))
	if errors.Is(err, syscall.ENOTDIR) {
		err = fs.ErrNotExist
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return Entry{Mode: modeOf(info)}, err
	}
	link, err := d.Root.Readlink(filepath.FromSlash(path))
	if err != nil {
		return Entry{}, err
	}
	if filepath.IsAbs(link) {
		within, err := filepath.Rel(d.Root.Name(), link)
		if err != nil || !filepath.IsLocal(within) {
			return Entry{}, errOutside
		}
		link = "/" + within
	}
	return Entry{Mode: fs.ModeSymlink, Link: filepath.ToSlash(link)}, nil
}

func modeOf(info fs.FileInfo) fs.FileMode {
	if info == nil {
		return 0
	}
	return info.Mode().Type()
}

// Read implements [Tree]. It does not wait for the writer of a pipe, and reads the file that Look saw.
func (d Dir) Read(path string) (Content, error) {
	name := filepath.FromSlash(path)
	seen, err := d.Root.Lstat(name)
	if err != nil {
		return Content{}, err
	}
	f, err := d.Root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Content{}, err
	case !info.Mode().IsRegular() || !os.SameFile(seen, info):
		return Content{}, errDevice
	case info.Size() > MostRead:
		return Content{}, ErrLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, MostRead+1))
	switch {
	case err != nil:
		return Content{}, err
	case len(data) > MostRead:
		return Content{}, ErrLarge
	}
	return Content{Data: data, OID: BlobID(d.Format, data)}, nil
}

// BlobID is the id under which git stores a content as a blob.
func BlobID(format string, data []byte) string {
	var h hash.Hash = sha1.New()
	if strings.EqualFold(format, "sha256") {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
