package worktree

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"jp/gitcmd"
)

// Object is a git object, with its content without git's header.
type Object struct {
	Kind string // "blob" or "tree"
	OID  string
	Data []byte
}

// ObjectReader reads objects of the repository. A missing object is an error.
type ObjectReader interface {
	ReadObject(oid string) (kind string, data []byte, err error)
}

func newObject(format gitcmd.ObjectFormat, kind string, data []byte) Object {
	return Object{Kind: kind, OID: format.Name(kind, data), Data: data}
}

// Modes of tree entries, as git writes them.
const (
	modeTree = "40000"
	modeFile = "100644"
	modeExec = "100755"
	modeLink = "120000"
	modeSub  = "160000"
)

// entry is one entry of a tree. The zero entry is a missing one.
type entry struct {
	mode, name, oid string
}

// sortName is the name as git orders it: a folder's ends in a slash.
func (e entry) sortName() string {
	if e.mode == modeTree {
		return e.name + "/"
	}
	return e.name
}

func decodeTree(format gitcmd.ObjectFormat, data []byte) ([]entry, error) {
	size := format.Size()
	var entries []entry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < size || name == "" {
			return nil, fmt.Errorf("tree: %w", ErrMalformed)
		}
		entries = append(entries, entry{mode, name, hex.EncodeToString(rest[:size])})
		data = rest[size:]
	}
	return entries, nil
}

func encodeTree(format gitcmd.ObjectFormat, entries []entry) ([]byte, error) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.sortName(), b.sortName()) })
	var b bytes.Buffer
	for _, e := range entries {
		oid, err := hex.DecodeString(e.oid)
		if err != nil || len(oid) != format.Size() {
			return nil, fmt.Errorf("tree entry %q: %w", e.name, ErrMalformed)
		}
		fmt.Fprintf(&b, "%s %s\x00", e.mode, e.name)
		b.Write(oid)
	}
	return b.Bytes(), nil
}

// treeReader reads trees, each once.
type treeReader struct {
	format  gitcmd.ObjectFormat
	objects ObjectReader
	read    map[string][]entry
}

func (t *treeReader) entries(oid string) ([]entry, error) {
	if oid == "" || gitcmd.IsEmptyTree(oid) {
		return nil, nil
	}
	if known, ok := t.read[oid]; ok {
		return known, nil
	}
	kind, data, err := t.objects.ReadObject(oid)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", oid, err)
	}
	if kind != "tree" {
		return nil, fmt.Errorf("read tree %s: it is a %s: %w", oid, kind, ErrMalformed)
	}
	list, err := decodeTree(t.format, data)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", oid, err)
	}
	t.read[oid] = list
	return list, nil
}

// find returns the entry of a path, or the zero entry.
func (t *treeReader) find(root, path string) (entry, error) {
	dir := root
	for {
		name, rest, deeper := strings.Cut(path, "/")
		list, err := t.entries(dir)
		if err != nil {
			return entry{}, err
		}
		at := slices.IndexFunc(list, func(e entry) bool { return e.name == name })
		switch {
		case at < 0 || deeper && list[at].mode != modeTree:
			return entry{}, nil
		case !deeper:
			return list[at], nil
		}
		dir, path = list[at].oid, rest
	}
}

// edits is a set of changes to one folder of a tree.
type edits struct {
	files map[string]entry // by name; the zero entry removes
	dirs  map[string]*edits
}

func newEdits() *edits { return &edits{files: map[string]entry{}, dirs: map[string]*edits{}} }

// set puts an entry at a path; the zero entry removes the present one.
func (e *edits) set(path string, to entry) {
	name, rest, deeper := strings.Cut(path, "/")
	if !deeper {
		to.name = name
		e.files[name] = to
		return
	}
	if e.dirs[name] == nil {
		e.dirs[name] = newEdits()
	}
	e.dirs[name].set(rest, to)
}

// apply makes the trees that differ and returns the id of the root; a folder
// without entries is "".
func (t *treeReader) apply(root string, e *edits, made *[]Object) (string, error) {
	old, err := t.entries(root)
	if err != nil {
		return "", err
	}
	list := make([]entry, 0, len(old)+len(e.files))
	below := map[string]string{}
	for _, o := range old {
		if o.mode == modeTree {
			below[o.name] = o.oid
		}
		if _, changed := e.files[o.name]; !changed && e.dirs[o.name] == nil {
			list = append(list, o)
		}
	}
	for name, d := range e.dirs {
		oid, err := t.apply(below[name], d, made)
		if err != nil {
			return "", err
		}
		if oid != "" {
			list = append(list, entry{modeTree, name, oid})
		} else if f, ok := e.files[name]; ok && f.oid != "" {
			list = append(list, f) // the file that took the folder's place
		}
	}
	for name, f := range e.files {
		if f.oid != "" && e.dirs[name] == nil {
			list = append(list, f)
		}
	}
	return t.finish(list, made)
}

func (t *treeReader) finish(list []entry, made *[]Object) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	data, err := encodeTree(t.format, list)
	if err != nil {
		return "", err
	}
	o := newObject(t.format, "tree", data)
	*made = append(*made, o)
	return o.OID, nil
}
