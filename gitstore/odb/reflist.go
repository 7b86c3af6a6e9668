package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// list reads the files; unread, it lists the names of loose ones alone.
func (r fileRefs) list(prefix string, unread bool) ([]Ref, error) {
	w := refWalk{store: r.store, prefix: prefix, unread: unread}
	return w.list()
}

func (w *refWalk) list() ([]Ref, error) {
	if w.known != nil {
		w.known.now, w.known.Stamps, w.known.same = time.Now(), map[string]RefStamp{}, nil
	}
	w.walk(path.Dir(w.prefix + "x"))
	// Loose first: a ref that is packed meanwhile is then found packed.
	packed, err := w.packed()
	if err != nil {
		w.faults = append(w.faults, err)
	}
	slices.SortFunc(w.refs, byName)
	return merge(w.refs, w.uncovered(packed)), errors.Join(w.faults...)
}

func (r fileRefs) listBeside(prefix, other string, known *KnownRefs) ([]Ref, []string, error) {
	w := refWalk{store: r.store, prefix: prefix, known: known}
	refs, err := w.list()
	beside, _ := r.list(other, true)
	return refs, refNames(beside), err
}

// KnownRefs are refs as an earlier list found them. A list neither reads nor returns a ref whose
// file looks as it did then.
type KnownRefs struct {
	Same   func(name string, file RefStamp) bool
	Stamps map[string]RefStamp // of the refs that the list returns, by name

	same []string // loose refs that the list does not return
	now  time.Time
}

// A RefStamp describes the file that has a ref: its inode, when it was made, when it was written, when it
// or its name changed, and its size. While it stays the same, the ref has the same value. The zero value
// means unknown: git keeps the ref elsewhere or outside of a file, or the file is too new for its stamp to
// show another write.
type RefStamp [5]uint64

// settled is how old a file has to be so that a change of it changes its time, too: no file
// system that jp writes to counts in longer steps.
const settled = 2 * time.Second

func (k *KnownRefs) stampOf(file Info) RefStamp {
	if age := k.now.Sub(time.Unix(0, file.ModTime)); age < settled {
		return RefStamp{}
	}
	return RefStamp{file.ID.Inode, uint64(file.ID.Birth), uint64(file.ModTime), uint64(file.Changed), uint64(file.Size)}
}

// isSame reports whether the list can leave a ref unread, and notes the stamp of another one. The stamp is
// older than the value.
func (k *KnownRefs) isSame(name string, file Info) bool {
	stamp := k.stampOf(file)
	if stamp != (RefStamp{}) && k.Same(name, stamp) {
		return true
	}
	k.Stamps[name] = stamp
	return false
}

// otherPacked are the packed refs that are neither hidden by a loose ref nor the same.
func (k *KnownRefs) otherPacked(refs []Ref, file Info) []Ref {
	if len(refs) > 0 {
		slices.Sort(k.same)
	}
	return slices.DeleteFunc(refs, func(r Ref) bool {
		_, other := k.Stamps[r.Name]
		_, same := slices.BinarySearch(k.same, r.Name)
		return same || !other && k.isSame(r.Name, file)
	})
}

// uncovered are the packed refs that no broken file hides: an error of the file is the ref's.
func (w *refWalk) uncovered(packed []Ref) []Ref {
	var broken *UnreadableRef
	for _, fault := range w.faults {
		if errors.As(fault, &broken) {
			packed = slices.DeleteFunc(packed, func(r Ref) bool { return r.Name == broken.Ref })
		}
	}
	return packed
}

func (w *refWalk) packed() ([]Ref, error) {
	packed, err := w.store.packedRefs()
	if err != nil {
		return nil, err
	}
	refs, err := packed.below(w.prefix)
	if w.known != nil {
		refs = w.known.otherPacked(refs, packed.file)
	}
	return refs, err
}

// refWalk collects the loose refs below one directory.
type refWalk struct {
	store  *Store
	prefix string
	unread bool // the names are enough
	known  *KnownRefs
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
	if kind == KindOther { // some file systems do not tell the kind in a listing
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
	if !strings.HasPrefix(name, w.prefix) {
		return
	}
	if w.known != nil {
		switch info, err := dir.Stat(e.Name); {
		case err != nil || info.Kind != KindFile:
			w.known.Stamps[name] = RefStamp{} // a packed one below it has changed
		case w.known.isSame(name, info):
			w.known.same = append(w.known.same, name)
			return
		}
	}
	if CheckRefName(name) != nil {
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
