package faultfs

import (
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"jp/gitstore/odb"
)

// Disk is a file system in memory that knows which of its changes would
// survive a power cut. It keeps every change of a directory in one log.
//
// With an ordered journal a flush commits the log up to the last change of the flushed file, and a crash
// keeps a prefix of the log that holds at least that. Without one, a flush of a directory keeps that
// directory's changes only, and a crash keeps for each other name any value that it ever had. A file's
// content survives if it was flushed or, with a journal, waited for before the end of the prefix. Otherwise
// any part of it may be there, or zeros.
type Disk struct {
	journal bool

	mu        sync.Mutex
	root      *node
	log       []change
	committed int
	inodes    uint64
}

// node is a file or a directory.
type node struct {
	id       uint64
	entries  map[string]*node // nil for a file
	data     []byte
	modified int64
	removed  bool
	// last is the length of the log after the last change that touched it.
	last int
	// synced says that a file's data was flushed as it is.
	synced bool
}

// change is one step of the log: a name gets a node, or loses it (nil), or a
// file's data is known to be on the disk (dir nil).
type change struct {
	dir     *node
	name    string
	node    *node
	durable bool
	// joined says that the next change is the other half of this one.
	joined bool
}

// NewDisk makes a disk with some directories, all of them durable.
func NewDisk(journal bool, dirs ...string) *Disk {
	d := &Disk{journal: journal}
	d.root = d.newNode(true)
	for _, name := range dirs {
		d.makeAll(name)
	}
	d.flushAll()
	return d
}

func (d *Disk) newNode(isDir bool) *node {
	d.inodes++
	n := &node{id: d.inodes, modified: time.Now().UnixNano()}
	if isDir {
		n.entries = map[string]*node{}
	}
	return n
}

func (d *Disk) makeAll(name string) *node {
	at := d.root
	for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		if at.entries[part] == nil {
			d.set(at, part, d.newNode(true))
		}
		at = at.entries[part]
	}
	return at
}

func (d *Disk) flushAll() {
	for i := range d.log {
		d.log[i].durable = true
	}
	d.committed = len(d.log)
}

// set changes a name and logs it.
func (d *Disk) set(dir *node, name string, n *node) {
	old := dir.entries[name]
	if n == nil {
		delete(dir.entries, name)
	} else {
		dir.entries[name] = n
	}
	dir.modified = time.Now().UnixNano()
	d.log = append(d.log, change{dir: dir, name: name, node: n})
	for _, touched := range []*node{dir, n, old} {
		if touched != nil {
			touched.last = len(d.log)
		}
	}
}

// find walks a relative name and gives its directory, last part and node.
func find(from *node, name string) (dir *node, base string, n *node, err error) {
	dir = from
	parts := strings.Split(path.Clean(name), "/")
	for _, part := range parts[:len(parts)-1] {
		next := dir.entries[part]
		switch {
		case next == nil:
			return nil, "", nil, fs.ErrNotExist
		case next.entries == nil:
			return nil, "", nil, syscall.ENOTDIR
		}
		dir = next
	}
	if dir.removed {
		return nil, "", nil, fs.ErrNotExist
	}
	base = parts[len(parts)-1]
	return dir, base, dir.entries[base], nil
}

// OpenDir opens a directory by its absolute path.
func (d *Disk) OpenDir(name string) (odb.Dir, error) {
	return diskDir{d, d.root}.OpenDir(strings.TrimPrefix(name, "/"))
}

// FlushTraits says whether the disk has a journal.
func (d *Disk) FlushTraits(_, _ odb.Dir) odb.FlushTraits {
	return odb.FlushTraits{OrderedMetadata: d.journal}
}

type diskDir struct {
	disk *Disk
	node *node
}

// at runs an action on a name under the disk's lock.
func (d diskDir) at(op, name string, act func(dir *node, base string, n *node) error) error {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	dir, base, n, err := find(d.node, name)
	if err == nil {
		err = act(dir, base, n)
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (d diskDir) OpenDir(name string) (out odb.Dir, err error) {
	err = d.at("open", name, func(_ *node, _ string, n *node) error {
		switch {
		case n == nil:
			return fs.ErrNotExist
		case n.entries == nil:
			return syscall.ENOTDIR
		}
		out = diskDir{d.disk, n}
		return nil
	})
	return out, err
}

func (d diskDir) Mkdir(name string) error {
	return d.at("mkdir", name, func(dir *node, base string, n *node) error {
		if n != nil {
			return fs.ErrExist
		}
		d.disk.set(dir, base, d.disk.newNode(true))
		return nil
	})
}

func (d diskDir) Open(name string) (out odb.File, err error) {
	err = d.at("open", name, func(_ *node, _ string, n *node) error {
		if n == nil {
			return fs.ErrNotExist
		}
		out = &diskFile{disk: d.disk, node: n}
		return nil
	})
	return out, err
}

func (d diskDir) Create(name string, _ uint32) (out odb.File, err error) {
	err = d.at("create", name, func(dir *node, base string, n *node) error {
		if n != nil {
			return fs.ErrExist
		}
		n = d.disk.newNode(false)
		d.disk.set(dir, base, n)
		out = &diskFile{disk: d.disk, node: n}
		return nil
	})
	return out, err
}

// Rename logs the new name before the end of the old one: without a journal
// the two are independent of each other.
func (d diskDir) Rename(from, to string) error {
	return d.at("rename", from, func(dir *node, base string, n *node) error {
		toDir, toBase, target, err := find(d.node, to)
		switch {
		case err != nil:
			return err
		case n == nil:
			return fs.ErrNotExist
		case target != nil && target.entries != nil:
			return syscall.EISDIR
		}
		d.disk.set(toDir, toBase, n)
		d.disk.log[len(d.disk.log)-1].joined = true
		d.disk.set(dir, base, nil)
		toDir.last, n.last = len(d.disk.log), len(d.disk.log)
		return nil
	})
}

func (d diskDir) Remove(name string) error {
	return d.at("remove", name, func(dir *node, base string, n *node) error {
		switch {
		case n == nil:
			return fs.ErrNotExist
		case n.entries != nil:
			return syscall.EISDIR
		}
		d.disk.set(dir, base, nil)
		return nil
	})
}

func (d diskDir) RemoveDir(name string) error {
	return d.at("rmdir", name, func(dir *node, base string, n *node) error {
		switch {
		case n == nil:
			return fs.ErrNotExist
		case n.entries == nil:
			return syscall.ENOTDIR
		case len(n.entries) > 0:
			return syscall.ENOTEMPTY
		}
		n.removed = true
		d.disk.set(dir, base, nil)
		return nil
	})
}

func (d diskDir) Stat(name string) (info odb.Info, err error) {
	err = d.at("stat", name, func(_ *node, _ string, n *node) error {
		if n == nil {
			return fs.ErrNotExist
		}
		info = n.info()
		return nil
	})
	return info, err
}

func (n *node) info() odb.Info {
	info := odb.Info{Size: int64(len(n.data)), ModTime: n.modified, ID: odb.FileID{Inode: n.id}}
	if n.entries != nil {
		info.Kind = odb.KindDir
	}
	return info
}

func (d diskDir) List() ([]odb.Entry, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	var out []odb.Entry
	for name, n := range d.node.entries {
		out = append(out, odb.Entry{Name: name, Kind: n.info().Kind})
	}
	return out, nil
}

func (d diskDir) Sync() error {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	d.disk.committed = max(d.disk.committed, d.node.last)
	for i := range d.disk.log {
		if d.disk.log[i].dir == d.node {
			d.disk.log[i].durable = true
		}
	}
	return nil
}

func (d diskDir) Close() error { return nil }
