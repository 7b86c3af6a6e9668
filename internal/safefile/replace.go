// Package safefile reads, makes and replaces files that others may touch at the
// same time.
//
//   - [ReadRegular] reads a small file that any user may own.
//   - [OpenShared] and [MakeFolders] make files and folders for several users of a machine.
//   - [StateDir] opens jp's folders in a git directory, without following a link.
//   - [Replace], [ReplaceIn] and [CreateNew] write a file as a whole: a reader finds
//     the content that it had or the one that it gets, never a part of either.
//
// These three write the new content beside the file under a temporary name, flush it, and rename it; then
// they flush the folder. A failure leaves the file as it was, and removes the temporary one if possible. Only
// if that last flush fails, the new content is there, and not safe from a power cut. A process that is killed
// may leave a temporary file behind ([IsTemporary]). Do not use them for files that several processes add to,
// or for those in a working tree, which may be watched while they change.
package safefile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Options of a replacement. The zero value is durable, and for the owner only.
type Options struct {
	// Mode is that of a new file, less the process's umask; 0 stands for 0600.
	Mode fs.FileMode
	// FolderMode is that of folders which are missing; 0 stands for 0700.
	FolderMode fs.FileMode
	// Share is told of new folders, and of a new file for others than the owner.
	Share Share
	// KeepMode lets a file that is replaced keep its mode.
	KeepMode bool
	// Volatile skips flushing: a power cut may leave the file empty, or with any content. It is for files
	// whose reader can tell, and whose loss is harmless.
	Volatile bool
}

func (o Options) mode() fs.FileMode {
	if o.Mode == 0 {
		return 0o600
	}
	return o.Mode
}

func (o Options) folderMode() fs.FileMode {
	if o.FolderMode == 0 {
		return 0o700
	}
	return o.FolderMode
}

// A Folder holds files by plain names.
type Folder interface {
	// Create makes a new file, for writing.
	Create(name string, mode fs.FileMode) (File, error)
	// Rename replaces the target atomically.
	Rename(from, to string) error
	Remove(name string) error
	// Sync returns when the names are on the disk.
	Sync() error
}

// A File is one that is being written.
type File interface {
	io.Writer
	Chmod(fs.FileMode) error
	Sync() error
	Close() error
}

// Replace makes data the content of the file at path, which need not exist. Once it has returned, the file
// survives a power cut, unless o is Volatile.
func Replace(path string, data []byte, o Options) error {
	return put(path, of(data), o, Folder.Rename)
}

// ReplaceWith is Replace with what write writes.
func ReplaceWith(path string, write func(io.Writer) error, o Options) error {
	return put(path, write, o, Folder.Rename)
}

// ReplaceIn is Replace in an open folder. It ignores the file's former mode.
func ReplaceIn(folder Folder, name string, data []byte, o Options) error {
	return o.put(folder, name, of(data), nil, Folder.Rename)
}

// CreateNew is Replace for a file that must not exist: if it does, the error is fs.ErrExist and the file
// stays as it is. If processes make a file at once, one succeeds.
func CreateNew(path string, data []byte, o Options) error {
	return put(path, of(data), o, func(f Folder, from, to string) error {
		if err := f.(osFolder).link(from, to); err != nil {
			return err
		}
		_ = f.Remove(from) // one that stays is a second name
		return nil
	})
}

func put(path string, write func(io.Writer) error, o Options, name func(f Folder, from, to string) error) error {
	dir := filepath.Dir(path)
	if err := makeFolders(dir, o, osFolder.Sync); err != nil {
		return err
	}
	return o.put(osFolder(dir), filepath.Base(path), write, o.keptMode(path), name)
}

// put writes a temporary file and lets finish give it its name.
func (o Options) put(f Folder, name string, write func(io.Writer) error, mode *fs.FileMode, finish func(f Folder, from, to string) error) error {
	temporary := temporaryPrefix + strings.ToLower(rand.Text())
	err := o.write(f, temporary, write, mode)
	if errors.Is(err, fs.ErrExist) {
		return err // another process made it
	}
	if err == nil {
		err = finish(f, temporary, name)
	}
	if err != nil {
		_ = f.Remove(temporary) // which is expendable
		return err
	}
	if o.Volatile {
		return nil
	}
	return f.Sync()
}

func (o Options) write(folder Folder, name string, write func(io.Writer) error, mode *fs.FileMode) error {
	f, err := folder.Create(name, o.mode())
	if err != nil {
		return err
	}
	if mode != nil { // before there is anything to read
		err = f.Chmod(*mode)
	} else if file, ok := f.(*os.File); ok && o.Share != nil && o.mode()&0o077 != 0 {
		err = o.Share(file)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil && !o.Volatile {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// of writes data.
func of(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		n, err := w.Write(data)
		if err == nil && n < len(data) {
			err = io.ErrShortWrite
		}
		return err
	}
}

const temporaryPrefix = ".new-"

// IsTemporary reports whether a name is one that a file has while it is written.
func IsTemporary(name string) bool { return strings.HasPrefix(name, temporaryPrefix) }
