package odb_test

import (
	"sync"

	"jp/gitstore/odb"
)

// An asked file system calls a function before it makes, renames or settles a file: if that returns an
// error, the operation fails with it. Names are those in a folder.
type asked struct {
	odb.FS
	mu     sync.Mutex
	before func(op, name string) error
}

func (a *asked) ask(op, name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.before(op, name)
}

func (a *asked) OpenDir(path string) (odb.Dir, error) {
	dir, err := a.FS.OpenDir(path)
	return askedDir{dir, a}, err
}

type askedDir struct {
	odb.Dir
	of *asked
}

func (d askedDir) OpenDir(name string) (odb.Dir, error) {
	dir, err := d.Dir.OpenDir(name)
	return askedDir{dir, d.of}, err
}

func (d askedDir) Create(name string, perm uint32) (odb.File, error) {
	if err := d.of.ask("create", name); err != nil {
		return nil, err
	}
	file, err := d.Dir.Create(name, perm)
	return askedFile{file, name, d.of}, err
}

func (d askedDir) Rename(from, to string) error {
	if err := d.of.ask("rename", from); err != nil {
		return err
	}
	return d.Dir.Rename(from, to)
}

type askedFile struct {
	odb.File
	name string
	of   *asked
}

func (f askedFile) Sync() error {
	if err := f.of.ask("settle", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f askedFile) AwaitWriteout() error {
	if err := f.of.ask("settle", f.name); err != nil {
		return err
	}
	return f.File.AwaitWriteout()
}
