package odb

import "io"

// FS is the file system as the Store uses it. A test may put its own below to make operations fail or to
// lose unflushed data.
type FS interface {
	// OpenDir opens a directory by its absolute path, through links.
	OpenDir(path string) (Dir, error)
	// FlushTraits describes the file system of both directories.
	FlushTraits(objects, refs Dir) FlushTraits
}

// FlushTraits are how a file system flushes. The zero value is that of an unknown one.
type FlushTraits struct {
	// OrderedMetadata says that both directories lie on one file system whose metadata
	// changes, and the data waited for before them, reach the disk in the
	// order in which they were made, all by one flush of the last directory.
	OrderedMetadata bool
	// OneByOne says that simultaneous flushes hold each other up. Otherwise they share their wait.
	OneByOne bool
}

// Dir is an open directory. Names are relative to it, with slashes; opening a link fails. The handle stays
// with the directory when that is removed: every call then returns fs.ErrNotExist.
type Dir interface {
	OpenDir(name string) (Dir, error)
	// Mkdir makes a directory. It returns fs.ErrExist if the name is taken.
	Mkdir(name string) error
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Create makes a new file for writing. It returns fs.ErrExist if the name is taken.
	Create(name string, perm uint32) (File, error)
	// Rename moves a file, over an existing one too, atomically.
	Rename(from, to string) error
	Remove(name string) error
	// RemoveDir removes an empty directory.
	RemoveDir(name string) error
	Stat(name string) (Info, error)
	// List returns the entries without "." and "..", in no order.
	List() ([]Entry, error)
	// Sync makes the directory's entries durable.
	Sync() error
	Close() error
}

// PathDir is a Dir that goes down several directories in one step. If a part of a path is a link, it fails
// with syscall.ELOOP. A system without such a call returns errors.ErrUnsupported, and the Store goes down
// one step after the other.
type PathDir interface {
	Dir
	// OpenDirPath opens a directory below.
	OpenDirPath(name string) (Dir, error)
	// OpenPath opens a file below for reading.
	OpenPath(name string) (File, error)
}

// moder is a Dir or a File that has a mode: the twelve low bits of the system's.
type moder interface {
	Mode() (uint32, error)
	SetMode(mode uint32) error
}

// File is an open file. Write may be short without an error, as write(2) is.
type File interface {
	io.Reader
	io.Writer
	Stat() (Info, error)
	// StartWriteout begins to write the data out and does not wait.
	StartWriteout() error
	// AwaitWriteout returns when the data is on its way to the disk and the file's size
	// and blocks are in the file system's running transaction. It does not flush that
	// transaction nor the disk's cache.
	AwaitWriteout() error
	// Sync makes data and metadata durable.
	Sync() error
	Close() error
}

// Kind is the kind of a directory entry.
type Kind uint8

// The kinds of a directory's entries.
const (
	KindFile Kind = iota
	KindDir
	KindLink
	KindOther
)

// Entry is one name of a directory.
type Entry struct {
	Name string
	Kind Kind
}

// Info is the result of a Stat, about a link itself instead of its target.
type Info struct {
	Kind Kind
	Size int64
	// ModTime is in nanoseconds since the epoch.
	ModTime int64
	// Changed is when the file, its times or its names changed last, in nanoseconds since the epoch.
	// Programs can set the ModTime, but not this. It is 0 if unknown.
	Changed int64
	ID      FileID
}

// FileID tells files apart. Birth, if the file system keeps it, tells a file from a later one that got the
// same inode.
type FileID struct {
	Dev, Inode uint64
	Birth      int64
}
