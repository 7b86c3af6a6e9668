package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// list reads the files; unread, it lists the names of loose ones alone.
func (r fileRefs) list(prefix string, unread bool) ([]Ref, error) {
	w, s := refWalk{store: r.store, prefix: prefix, unread: unread}, r.store
	w.walk(path.Dir(prefix + "x"))
	// Loose first: what is packed meanwhile is then found packed.
	packed, err := s.packedBelow(prefix)
	if err != nil {
		w.faults = append(w.faults, err)
	}
	slices.SortFunc(w.refs, byName)
	return merge(w.refs, w.uncovered(packed)), errors.Join(w.faults...)
}

func (r fileRefs) listBeside(prefix, other string) ([]Ref, []string, error) {
	refs, err := r.list(prefix, false)
	beside, _ := r.list(other, true)
	return refs, refNames(beside), err
}

// uncovered are the packed refs that no broken file hides: what is told of the file is
// told of the ref.
func (w *refWalk) uncovered(packed []Ref) []Ref {
	var broken *UnreadableRef
	for _, fault := range w.faults {
		if errors.As(fault, &broken) {
			packed = slices.DeleteFunc(packed, func(r Ref) bool { return r.Name == broken.Ref })
		}
	}
	return packed
}

func (s *Store) packedBelow(prefix string) ([]Ref, error) {
	packed, err := s.packedRefs()
	if err != nil {
		return nil, err
	}
	return packed.below(prefix)
}

// refWalk collects the loose refs below one directory.
type refWalk struct {
	store  *Store
	prefix string
	unread bool // the names are enough
	refs   []Ref
	faults []error
}

func (w *refWalk) walk(name string) {
	dir, err := w.store.walkDir(name, false)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrRefConflict) {
		return
	}
	if err != nil {
		w.faults = append(w.faults, err)
		return
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // git has removed it since
		w.faults = append(w.faults, fmt.Errorf("list %s: %w", name, err))
		return
	}
	for _, e := range entries {
		w.visit(dir, name+"/"+e.Name, e)
	}
}

func (w *refWalk) visit(dir Dir, name string, e Entry) {
	kind := e.Kind
	if kind == KindOther { // not every file system tells the kind in a listing
		if info, err := dir.Stat(e.Name); err == nil {
			kind = info.Kind
		}
	}
	if kind == KindDir {
		if strings.HasPrefix(name, w.prefix) || strings.HasPrefix(w.prefix, name+"/") {
			w.walk(name)
		}
		return
	}
	if !strings.HasPrefix(name, w.prefix) || CheckRefName(name) != nil {
		return
	}
	if w.unread {
		w.refs = append(w.refs, Ref{Name: name})
		return
	}
	file, err := dir.Open(e.Name)
	oid, file, err := readRefFile(file, err, w.store.opts.Format)
	if file != nil {
		file.Close()
	}
	if errors.Is(err, ErrRefBroken) {
		oid, err = w.store.ReadRef(name)
	}
	var unreadable *UnreadableRef
	switch {
	case errors.As(err, &unreadable):
		w.faults = append(w.faults, unreadable)
		return
	case err != nil:
		w.faults = append(w.faults, &UnreadableRef{Ref: name, Err: err})
		return
	}
	if oid != "" {
		w.refs = append(w.refs, Ref{Name: name, OID: oid})
	}
}

// merge joins two sorted lists; a loose ref wins over a packed one.
func merge(loose, packed []Ref) []Ref {
	out := make([]Ref, 0, len(loose)+len(packed))
	for len(loose) > 0 && len(packed) > 0 {
		switch c := strings.Compare(loose[0].Name, packed[0].Name); {
		case c < 0:
			out, loose = append(out, loose[0]), loose[1:]
		case c > 0:
			out, packed = append(out, packed[0]), packed[1:]
		default:
			packed = packed[1:]
		}
	}
	return append(append(out, loose...), packed...)
}
