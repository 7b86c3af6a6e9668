// Package safefile reads, makes and replaces files that others may touch at the
// same time.
//
//   - [ReadRegular] reads a small file that any user may own.
//   - [OpenShared] and [MakeFolders] make what several users of a machine may write to.
//   - [StateDir] opens jp's folders in a git directory, and follows no link.
//   - [Replace], [ReplaceIn] and [CreateNew] write a file as a whole: a reader finds
//     the content that it had or the one that it gets, never a part of either.
//
// These three write the new content beside the file under a temporary name, flush
// it, and rename it; then they flush the folder. What fails leaves the file as it
// was, and takes the temporary one away where that can be done; only where that
// last flush fails the new content is there, and not safe from a power cut. A
// process that is killed may leave a temporary file behind ([IsTemporary]). They
// are not for files that several processes add to, nor for those in a working
// tree, which may be watched while they change.
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
	// Share is told of folders that are made, and of a new file that is not for the
	// owner only.
	Share Share
	// KeepMode lets a file that is replaced keep its mode.
	KeepMode bool
	// Volatile waits for no disk: a power cut may leave the file empty, or with any
	// content. It is for files whose reader can tell, and whose loss costs nothing.
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

// A Folder is what files are in, by plain names.
type Folder interface {
	// Create makes a file that is not there yet, to be written.
	Create(name string, mode fs.FileMode) (File, error)
	// Rename replaces what has the new name, in one step.
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

// Replace makes data the content of the file at path, which need not exist. Once
// it has returned, a power cut changes nothing, unless o is Volatile.
func Replace(path string, data []byte, o Options) error {
	return put(path, of(data), o, Folder.Rename)
}

// ReplaceWith is Replace with what write writes.
func ReplaceWith(path string, write func(io.Writer) error, o Options) error {
	return put(path, write, o, Folder.Rename)
}

// ReplaceIn is Replace in an open folder. The file's former mode is not looked at.
func ReplaceIn(folder Folder, name string, data []byte, o Options) error {
	return o.put(folder, name, of(data), nil, Folder.Rename)
}

// CreateNew is Replace for a file that must not exist: where one does, the error is
// fs.ErrExist and it stays as it is. Of processes that make a file at once, one
// does.
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
		return err // it is not ours
	}
	if err == nil {
		err = finish(f, temporary, name)
	}
	if err != nil {
		_ = f.Remove(temporary) // whose loss is no loss
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
