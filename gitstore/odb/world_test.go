package odb_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
	"jp/internal/testing/interleave"
)

// world is a disk that several processes write to, with the results that they got.
type world struct {
	disk    *faultfs.Disk
	base    odb.Object
	cuts    bool // the power may go after every step
	acked   []odb.OID
	refused []error   // the losers' errors
	killed  int       // processes without a result
	cut     uint64    // how often the power went
	changed bool      // since the last look at the disk
	seen    uint64    // the fingerprint of its content then
	fault   error     // a reader's forbidden observation
	planned []odb.OID // the appends of one process, in order
	left    time.Time // when a process that is dead made its lock
}

// of is the world's disk as a process has it.
func (w *world) of(t *interleave.Task) scheduled { return scheduled{w.disk, t, w.cuts, &w.changed} }

// newWorld has one conversation of one commit, whose ref is loose.
func newWorld(journal bool) *world {
	w := emptyWorld(journal)
	w.base = commit("", "base")
	w.write(appendBatch(ref, "", []odb.Object{w.base}))
	return w
}

func emptyWorld(journal bool) *world {
	w := &world{disk: faultfs.NewDisk(journal, "/repo/objects", "/repo/refs/jp/conversations")}
	w.write(odb.Batch{Objects: []odb.Object{emptyTree}})
	return w
}

// write changes the world before anything is explored in it.
func (w *world) write(b odb.Batch) {
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: w.disk})
	if err == nil {
		err = errors.Join(s.Write(bg, b), s.Close())
	}
	if err != nil {
		panic(err)
	}
}

// leaveLock leaves the lock of a killed process.
func (w *world) leaveLock() *world {
	dir, err := w.disk.OpenDir("/repo/refs/jp/conversations")
	if err != nil {
		panic(err)
	}
	lock, err := dir.Create("jp-c1.lock", 0o666)
	if err != nil {
		panic(err)
	}
	info, err := lock.Stat()
	if err != nil {
		panic(err)
	}
	w.left = time.Unix(0, info.ModTime)
	return w
}

// chainOn is the chain that the ref names on a disk, newest first, all of it there; empty if there is no
// ref.
func chainOn(disk *faultfs.Disk) (chain []odb.OID, err error) {
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	oid, err := s.ReadRef(ref)
	for err == nil && oid != "" {
		chain = append(chain, oid)
		var data []byte
		if _, data, err = s.ReadObject(oid); err == nil {
			oid = parentOf(data)
		}
	}
	if errors.Is(err, odb.ErrRefNotFound) {
		err = nil
	}
	return chain, err
}

// holds checks that the acknowledged events are on a disk: each of them once, in a chain of only them, the
// base, and the events of killed processes.
func (w *world) holds(disk *faultfs.Disk) error {
	found, err := chainOn(disk)
	if err != nil {
		return err
	}
	if w.base.OID != "" && (len(found) == 0 || found[len(found)-1] != w.base.OID) {
		return fmt.Errorf("the chain %v has lost its beginning", found)
	}
	for _, oid := range w.acked {
		if !slices.Contains(found, oid) {
			return fmt.Errorf("%.8s was acknowledged and is lost; the chain is %v", oid, found)
		}
	}
	return nil
}

// each is called after every step.
func (w *world) each() error {
	if !w.changed {
		return nil
	}
	w.changed = false
	w.seen, _ = w.content()
	if err := errors.Join(w.fault, w.holds(w.disk)); err != nil || !w.cuts {
		return err
	}
	for range 3 {
		w.cut++
		if err := w.holds(w.disk.Crash(rand.New(rand.NewPCG(7, w.cut)))); err != nil {
			return fmt.Errorf("after a power cut: %w", err)
		}
	}
	return nil
}

// oneWins is the condition at the end of processes that knew the same head.
func (w *world) oneWins() error {
	if len(w.acked) > 1 || len(w.acked) == 0 && w.killed == 0 {
		return fmt.Errorf("%d processes won", len(w.acked))
	}
	found, err := chainOn(w.disk)
	if i := slices.Index(found, w.base.OID); err == nil && (i > 1 || i < 0 && len(found) > 1) {
		err = fmt.Errorf("more than one event behind one head: %v", found)
	}
	return errors.Join(err, w.atLast())
}

// atLast is the condition at any end: the losers got the reason, the living left no files behind, and the
// next process goes on from the ref.
func (w *world) atLast() error {
	for _, err := range w.refused {
		if !errors.Is(err, odb.ErrRefMoved) && !errors.Is(err, odb.ErrRefLocked) && !errors.Is(err, odb.ErrRefExists) {
			return fmt.Errorf("a loser was told: %w", err)
		}
	}
	if _, left := w.content(); left != "" && w.killed == 0 {
		return fmt.Errorf("%s was left behind", left)
	}
	if err := w.goesOn(); err != nil {
		return fmt.Errorf("the next process: %w", err)
	}
	return w.holds(w.disk)
}

// goesOn lets the next process append, an hour later.
func (w *world) goesOn() error {
	found, err := chainOn(w.disk)
	if err != nil {
		return err
	}
	var head odb.OID
	if len(found) > 0 {
		head = found[0]
	}
	s, err := odb.Open("/repo", recovery(w.disk))
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Write(bg, appendBatch(ref, head, chain(head, 1, "afterwards")))
}

// content is a number for all that is on the disk, and a file that a process
// would take away again.
func (w *world) content() (sum uint64, left string) {
	var walk func(name string)
	walk = func(name string) {
		dir, err := w.disk.OpenDir(name)
		if err != nil {
			return
		}
		entries, _ := dir.List()
		for _, e := range entries {
			h := fnv.New64a()
			label := e.Name
			if isTemporary(e.Name) {
				label = "temporary"
			}
			if isTemporary(e.Name) || strings.HasSuffix(e.Name, ".lock") {
				left = e.Name
			}
			io.WriteString(h, name+"/"+label)
			if file, err := dir.Open(e.Name); err == nil && e.Kind == odb.KindFile {
				io.Copy(h, file)
			}
			sum += h.Sum64()
			walk(name + "/" + e.Name)
		}
	}
	walk("/repo")
	return sum, left
}

// system puts processes into the world.
func (w *world) system(end func() error, processes ...func(*interleave.Task)) interleave.System {
	return interleave.System{
		Tasks: processes, Each: w.each, End: end,
		State: func() uint64 { return w.seen },
	}
}
