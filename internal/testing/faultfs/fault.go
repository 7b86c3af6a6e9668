// Package faultfs is test support for stores that must survive faults: an FS that fails chosen operations,
// and a disk in memory that forgets everything that was never flushed.
package faultfs

import (
	"errors"
	"sync"

	"jp/gitstore/odb"
)

// ErrCrashed is the error of every operation after the crash of a Plan.
var ErrCrashed = errors.New("crashed")

// Op names an operation of an FS.
type Op string

// The operations that are counted. Close is excluded: it always succeeds.
const (
	OpenDir   Op = "opendir"
	Mkdir     Op = "mkdir"
	Open      Op = "open"
	Create    Op = "create"
	Rename    Op = "rename"
	Remove    Op = "remove"
	RemoveDir Op = "rmdir"
	Stat      Op = "stat"
	List      Op = "list"
	SyncDir   Op = "syncdir"
	Read      Op = "read"
	Write     Op = "write"
	Start     Op = "start"
	Await     Op = "await"
	Sync      Op = "sync"
)

// Plan chooses the operation that fails, and its failure. The zero value fails none.
type Plan struct {
	// At is the number of the operation, from 1.
	At int
	// Only, if set, lets At count the operations of this name.
	Only Op
	// Err is the error.
	Err error
	// Short lets a write take half of its data instead.
	Short bool
	// ForGood lets all later operations fail too, those that read excepted.
	ForGood bool
	// Crash skips the operation and all later ones.
	Crash bool
	// Skip lets an operation succeed without being done.
	Skip func(Op) bool
}

// FS counts the operations on another FS and fails some.
type FS struct {
	odb.FS
	plan Plan

	mu    sync.Mutex
	count int
	only  int // operations that At counts
	trace []Op
	felt  bool
}

// New puts a plan on inner.
func New(inner odb.FS, plan Plan) *FS { return &FS{FS: inner, plan: plan} }

// Count is how many operations there were.
func (f *FS) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Trace gives the operations in order.
func (f *FS) Trace() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Op(nil), f.trace...)
}

// Felt reports whether the plan had an effect: a short write has one only at a write.
func (f *FS) Felt() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.felt
}

// outcome of one operation.
type outcome struct {
	err   error
	short bool
	skip  bool
}

func (f *FS) next(op Op) outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.trace = append(f.trace, op)
	p := f.plan
	counted := p.Only == "" || p.Only == op
	if counted {
		f.only++
	}
	hit := p.At > 0 && (counted && f.only == p.At || f.only >= p.At && (p.Crash || p.ForGood && !reads(op)))
	f.felt = f.felt || hit && (p.Crash || !p.Short || op == Write)
	switch {
	case hit && p.Crash:
		return outcome{err: ErrCrashed}
	case hit && p.Short:
		return outcome{short: op == Write}
	case hit:
		return outcome{err: p.Err}
	}
	return outcome{skip: p.Skip != nil && p.Skip(op)}
}

func reads(op Op) bool {
	switch op {
	case OpenDir, Open, Stat, List, Read:
		return true
	}
	return false
}

// do runs an operation unless the plan is against it.
func (f *FS) do(op Op, run func() error) error {
	o := f.next(op)
	if o.err != nil || o.skip {
		return o.err
	}
	return run()
}

// get is do for an operation with a result.
func get[T any](f *FS, op Op, run func() (T, error)) (out T, err error) {
	err = f.do(op, func() error {
		out, err = run()
		return err
	})
	return out, err
}

type dir struct {
	odb.Dir
	fs *FS
}

type file struct {
	odb.File
	fs *FS
}

func (f *FS) wrapDir(d odb.Dir, err error) (odb.Dir, error) {
	if err != nil {
		return nil, err
	}
	return dir{d, f}, nil
}

func (f *FS) wrapFile(inner odb.File, err error) (odb.File, error) {
	if err != nil {
		return nil, err
	}
	return file{inner, f}, nil
}

func (f *FS) OpenDir(path string) (odb.Dir, error) {
	return get(f, OpenDir, func() (odb.Dir, error) { return f.wrapDir(f.FS.OpenDir(path)) })
}

func (f *FS) FlushTraits(objects, refs odb.Dir) odb.FlushTraits {
	return f.FS.FlushTraits(objects.(dir).Dir, refs.(dir).Dir)
}

func (d dir) OpenDir(name string) (odb.Dir, error) {
	return get(d.fs, OpenDir, func() (odb.Dir, error) { return d.fs.wrapDir(d.Dir.OpenDir(name)) })
}

func (d dir) Open(name string) (odb.File, error) {
	return get(d.fs, Open, func() (odb.File, error) { return d.fs.wrapFile(d.Dir.Open(name)) })
}

// OpenDirPath and OpenPath are one operation, as they are below.
func (d dir) OpenDirPath(name string) (odb.Dir, error) {
	below, ok := d.Dir.(odb.PathDir)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return get(d.fs, OpenDir, func() (odb.Dir, error) { return d.fs.wrapDir(below.OpenDirPath(name)) })
}

func (d dir) OpenPath(name string) (odb.File, error) {
	below, ok := d.Dir.(odb.PathDir)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return get(d.fs, Open, func() (odb.File, error) { return d.fs.wrapFile(below.OpenPath(name)) })
}

func (d dir) Create(name string, perm uint32) (odb.File, error) {
	return get(d.fs, Create, func() (odb.File, error) { return d.fs.wrapFile(d.Dir.Create(name, perm)) })
}

func (d dir) Mkdir(name string) error {
	return d.fs.do(Mkdir, func() error { return d.Dir.Mkdir(name) })
}

func (d dir) Rename(from, to string) error {
	return d.fs.do(Rename, func() error { return d.Dir.Rename(from, to) })
}

func (d dir) Remove(name string) error {
	return d.fs.do(Remove, func() error { return d.Dir.Remove(name) })
}

func (d dir) RemoveDir(name string) error {
	return d.fs.do(RemoveDir, func() error { return d.Dir.RemoveDir(name) })
}

func (d dir) Stat(name string) (odb.Info, error) {
	return get(d.fs, Stat, func() (odb.Info, error) { return d.Dir.Stat(name) })
}

func (d dir) List() ([]odb.Entry, error) { return get(d.fs, List, d.Dir.List) }
func (d dir) Sync() error                { return d.fs.do(SyncDir, d.Dir.Sync) }

func (f file) Read(p []byte) (int, error) {
	return get(f.fs, Read, func() (int, error) { return f.File.Read(p) })
}

func (f file) Write(p []byte) (int, error) {
	o := f.fs.next(Write)
	switch {
	case o.err != nil:
		return 0, o.err
	case o.skip:
		return len(p), nil
	case o.short:
		p = p[:len(p)/2]
	}
	return f.File.Write(p)
}

func (f file) Stat() (odb.Info, error) { return get(f.fs, Stat, f.File.Stat) }
func (f file) StartWriteout() error    { return f.fs.do(Start, f.File.StartWriteout) }
func (f file) AwaitWriteout() error    { return f.fs.do(Await, f.File.AwaitWriteout) }
func (f file) Sync() error             { return f.fs.do(Sync, f.File.Sync) }
