package powercut_test

import "jp/gitstore/odb"

// noFsyncFS is the system's file system without the waits for a file's data: only
// directories are flushed. A power cut must show that.
type noFsyncFS struct{ odb.FS }

func (c noFsyncFS) OpenDir(path string) (odb.Dir, error) {
	d, err := c.FS.OpenDir(path)
	return carelessDir{d}, err
}

func (c noFsyncFS) FlushTraits(objects, refs odb.Dir) odb.FlushTraits {
	return c.FS.FlushTraits(objects.(carelessDir).Dir, refs.(carelessDir).Dir)
}

type carelessDir struct{ odb.Dir }

func (d carelessDir) OpenDir(name string) (odb.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return carelessDir{sub}, nil
}

func (d carelessDir) Create(name string, perm uint32) (odb.File, error) {
	f, err := d.Dir.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return carelessFile{f}, nil
}

type carelessFile struct{ odb.File }

func (carelessFile) StartWriteout() error { return nil }
func (carelessFile) AwaitWriteout() error { return nil }
func (carelessFile) Sync() error          { return nil }
