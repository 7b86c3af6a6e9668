package packing

import (
	"os"

	"jp/internal/safefile"
)

// files changes files. A test may put its own in its place, to break off anywhere.
type files interface {
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	// Replace gives a file all of this content, or leaves the file as it is.
	Replace(name string, content []byte) error
	// Sync makes the entries of a folder durable.
	Sync(folder string) error
}

type osFiles struct{ share safefile.Share }

func (osFiles) Rename(from, to string) error { return os.Rename(from, to) }
func (osFiles) Remove(name string) error     { return os.Remove(name) }
func (osFiles) RemoveAll(name string) error  { return os.RemoveAll(name) }

func (osFiles) Sync(folder string) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (o osFiles) Replace(name string, content []byte) error {
	return safefile.Replace(name, content, safefile.Options{Mode: 0o666, Volatile: true, Share: o.share})
}
