package odb_test

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
	"jp/internal/testing/interleave"
)

// errKilled is the error of a killed process's operations.
var errKilled = errors.New("killed")

// scheduled is a disk as one task sees it: every operation waits for its turn.
type scheduled struct {
	disk *faultfs.Disk
	task *interleave.Task
	// cuts says that the order in which changes reach the disk matters, because
	// the power may go.
	cuts bool
	// changed is set by every operation that may have changed something.
	changed *bool
}

// platter stands for the order of changes on the disk.
const platter = "the disk"

// in has the accesses of an operation on a name in a directory: the name, and the existence of the
// directories above it.
func in(dir, name string, mode interleave.Mode) []interleave.Access {
	full := path.Join(dir, name)
	on := []interleave.Access{{Of: full, Mode: mode}}
	for above := path.Dir(full); above != "/repo" && above != "/"; above = path.Dir(above) {
		on = append(on, interleave.Access{Of: above, Mode: interleave.Reads})
		if above == dir {
			break
		}
	}
	if mode == interleave.Writes {
		on = append(on, interleave.Access{Of: path.Dir(full) + "/*", Mode: interleave.Adds})
	}
	return on
}

// do waits for an operation's turn. Those that change the disk after a power cut are durable changes.
func (s scheduled) do(name string, durable bool, on []interleave.Access, act func() error) (err error) {
	if durable && s.cuts {
		on = append(on, interleave.Access{Of: platter, Mode: interleave.Writes})
	}
	changes := durable || slices.ContainsFunc(on, func(a interleave.Access) bool { return a.Mode != interleave.Reads })
	if !s.task.Do(name, on, func() { err, *s.changed = act(), *s.changed || changes }) {
		return errKilled
	}
	return err
}

func (s scheduled) OpenDir(name string) (out odb.Dir, err error) {
	err = s.do("opendir "+name, false, in("/", name, interleave.Reads), func() error {
		inner, err := s.disk.OpenDir(name)
		out = scheduledDir{s, inner, name}
		return err
	})
	return out, err
}

func (s scheduled) FlushTraits(objects, refs odb.Dir) odb.FlushTraits {
	return s.disk.FlushTraits(objects.(scheduledDir).Dir, refs.(scheduledDir).Dir)
}

type scheduledDir struct {
	scheduled
	odb.Dir
	path string
}

func (d scheduledDir) read(op, name string, act func() error) error {
	return d.do(op+" "+path.Join(d.path, name), false, in(d.path, name, interleave.Reads), act)
}

func (d scheduledDir) change(op, name string, act func() error) error {
	return d.do(op+" "+path.Join(d.path, name), true, in(d.path, name, interleave.Writes), act)
}

func (d scheduledDir) file(inner odb.File, name string) odb.File {
	return scheduledFile{d.scheduled, inner, path.Join(d.path, name)}
}

func (d scheduledDir) OpenDir(name string) (out odb.Dir, err error) {
	err = d.read("opendir", name, func() error {
		inner, err := d.Dir.OpenDir(name)
		out = scheduledDir{d.scheduled, inner, path.Join(d.path, name)}
		return err
	})
	return out, err
}

func (d scheduledDir) Open(name string) (out odb.File, err error) {
	err = d.read("open", name, func() error {
		inner, err := d.Dir.Open(name)
		out = d.file(inner, name)
		return err
	})
	return out, err
}

// OpenDirPath sees all directories of a path at once.
func (d scheduledDir) OpenDirPath(name string) (odb.Dir, error) { return d.OpenDir(name) }

// OpenPath has come to the last directory before it looks for the file: others may
// have removed that meanwhile, and made it again.
func (d scheduledDir) OpenPath(name string) (odb.File, error) {
	dir, err := d.OpenDirPath(path.Dir(name))
	if err != nil {
		return nil, err
	}
	return dir.Open(path.Base(name))
}

func (d scheduledDir) Create(name string, perm uint32) (out odb.File, err error) {
	err = d.change("create", name, func() error {
		inner, err := d.Dir.Create(name, perm)
		out = d.file(inner, name)
		return err
	})
	return out, err
}

// Mkdir looks first: an existing directory means no change.
func (d scheduledDir) Mkdir(name string) error {
	if _, err := d.Stat(name); err == nil {
		return fs.ErrExist
	}
	return d.change("mkdir", name, func() error { return d.Dir.Mkdir(name) })
}

func (d scheduledDir) Remove(name string) error {
	return d.change("remove", name, func() error { return d.Dir.Remove(name) })
}

func (d scheduledDir) RemoveDir(name string) error {
	inside := interleave.Access{Of: path.Join(d.path, name) + "/*", Mode: interleave.Reads}
	return d.do("rmdir "+path.Join(d.path, name), true, append(in(d.path, name, interleave.Writes), inside),
		func() error { return d.Dir.RemoveDir(name) })
}

func (d scheduledDir) Rename(from, to string) error {
	on := append(in(d.path, from, interleave.Writes), in(d.path, to, interleave.Writes)...)
	return d.do("rename "+path.Join(d.path, from)+" to "+to, true, on, func() error { return d.Dir.Rename(from, to) })
}

func (d scheduledDir) Stat(name string) (info odb.Info, err error) {
	err = d.read("stat", name, func() error {
		info, err = d.Dir.Stat(name)
		return err
	})
	return info, err
}

func (d scheduledDir) List() (entries []odb.Entry, err error) {
	on := []interleave.Access{{Of: d.path + "/*", Mode: interleave.Reads}, {Of: d.path, Mode: interleave.Reads}}
	err = d.do("list "+d.path, false, on, func() error {
		entries, err = d.Dir.List()
		return err
	})
	return entries, err
}

func (d scheduledDir) Sync() error { return d.do("syncdir "+d.path, true, nil, d.Dir.Sync) }

type scheduledFile struct {
	scheduled
	odb.File
	path string
}

func (f scheduledFile) touch(op string, mode interleave.Mode, act func() error) error {
	return f.do(op+" "+f.path, false, []interleave.Access{{Of: f.path, Mode: mode}}, act)
}

func (f scheduledFile) Read(p []byte) (n int, err error) {
	err = f.touch("read", interleave.Reads, func() error {
		n, err = f.File.Read(p)
		return err
	})
	return n, err
}

func (f scheduledFile) Write(p []byte) (n int, err error) {
	err = f.touch("write", interleave.Writes, func() error {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f scheduledFile) Stat() (info odb.Info, err error) {
	err = f.touch("stat", interleave.Reads, func() error {
		info, err = f.File.Stat()
		return err
	})
	return info, err
}

func (f scheduledFile) StartWriteout() error { return f.File.StartWriteout() }

func (f scheduledFile) AwaitWriteout() error {
	return f.do("await "+f.path, true, nil, f.File.AwaitWriteout)
}

func (f scheduledFile) Sync() error { return f.do("sync "+f.path, true, nil, f.File.Sync) }

// isTemporary says that a name is drawn anew each time.
func isTemporary(name string) bool { return strings.HasPrefix(name, "tmp_obj_") }
