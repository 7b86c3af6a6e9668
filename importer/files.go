package importer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

const (
	// maxFile is the largest file that is rebuilt: a snapshot of jp leaves larger new ones out.
	maxFile = 1 << 20
	maxPath = 4096
)

// errUnknown says that a file's content does not follow from what is known of it.
var errUnknown = errors.New("the content is unknown")

// files are the files of a thread, as its events have them. They are rebuilt from what tools
// did to them, on top of a tree of the repository.
type files struct {
	format gitcmd.ObjectFormat
	read   func(oid string) (kind string, data []byte, err error)
	start  func() (tree string, err error) // of the newest event that is stored
	dir    string                          // where the session ran
	top    string                          // of the repository
	secret func(name, text string) bool    // what stands in no file of jp's; nil: all may
	tree   string
	ready  bool
	fresh  map[string]conversation.Object // objects that may not be stored yet
	given  map[string]bool                // those that events have
}

// A change is what edits come to.
type change struct {
	before, after  string // trees
	outside        []conversation.PathStat
	changed        []conversation.FileChange
	objects        []conversation.Object // of after
	outsideObjects []conversation.Object // of before
	unknown        int
}

// apply makes edits. What was not as the session found it changes first.
func (f *files) apply(edits []Edit) (c change, err error) {
	if !f.ready {
		if f.tree, err = f.start(); err != nil {
			return c, err
		}
		f.ready = true
		f.stored()
	}
	type put struct {
		path  string
		after *string // nil removes it
		was   string
	}
	var puts []put
	c.before = f.tree
	for _, e := range edits {
		name, ok := f.name(e.Path)
		if !ok {
			c.unknown++
			continue
		}
		now, oid, err := f.content(c.before, name)
		if err != nil {
			c.unknown++
			continue
		}
		if at := slices.IndexFunc(puts, func(p put) bool { return p.path == name }); at >= 0 {
			now = puts[at].after
		} else if e.Before != nil && (now == nil || *now != *e.Before) && len(*e.Before) <= maxFile {
			status := "M"
			if now == nil {
				status = "A"
			}
			if c.before, err = f.write(c.before, name, e.Before); err != nil {
				c.unknown++
				continue
			}
			c.outside = append(c.outside, conversation.PathStat{Path: name, Status: status, Added: -1, Deleted: -1})
			if now, oid, err = f.content(c.before, name); err != nil {
				return c, err
			}
		}
		after, err := e.result(now)
		if err != nil {
			c.unknown++
			continue
		}
		puts = append(puts, put{name, after, oid})
	}
	c.outsideObjects = f.taken()
	c.after = c.before
	for _, p := range puts {
		after, err := f.write(c.after, p.path, p.after)
		if err != nil {
			c.unknown++
			continue
		}
		c.after = after
		_, oid, err := f.content(c.after, p.path)
		if err != nil {
			return c, err
		}
		if oid != p.was {
			c.changed = append(c.changed, conversation.FileChange{Path: p.path, Before: p.was, After: oid})
		}
	}
	c.objects = f.taken()
	f.tree = c.after
	return c, nil
}

// result is a file after an edit, nil where it is gone.
func (e Edit) result(now *string) (*string, error) {
	switch {
	case e.Removed:
		return nil, nil
	case e.After != nil:
		if len(*e.After) > maxFile {
			return nil, errUnknown
		}
		return e.After, nil
	case e.Created:
		now = new(string)
	case now == nil:
		return nil, errUnknown
	}
	text := *now
	for _, r := range e.Replaced {
		n := 0
		if r.Old != "" {
			n = strings.Count(text, r.Old)
		}
		switch {
		case r.Old == "" && text == "":
			text = r.New
		case n == 1 || n > 1 && r.All:
			text = strings.ReplaceAll(text, r.Old, r.New)
		default:
			return nil, errUnknown
		}
		if len(text) > maxFile {
			return nil, errUnknown
		}
	}
	return &text, nil
}

// name is the path of a file below the session's folder, or the repository's. ok is false for
// one outside, and for those that no snapshot has.
func (f *files) name(file string) (name string, ok bool) {
	if file == "" || len(file) > maxPath || strings.ContainsRune(file, 0) {
		return "", false
	}
	name = file
	if filepath.IsAbs(file) {
		root := f.dir
		if within(f.dir, f.top) {
			root = f.top
		}
		if !within(file, root) {
			return "", false
		}
		name, _ = filepath.Rel(root, file)
	} else if within(f.dir, f.top) {
		below, _ := filepath.Rel(f.top, f.dir)
		name = filepath.Join(below, file)
	}
	name = path.Clean(filepath.ToSlash(name))
	if name == "." || name == ".." || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/") {
		return "", false
	}
	for part := range strings.SplitSeq(name, "/") {
		lower := strings.ToLower(part)
		if strings.HasPrefix(lower, ".git") && lower != ".gitignore" || strings.HasPrefix(lower, "git~") ||
			strings.HasPrefix(lower, ".env") || strings.HasSuffix(lower, ".pem") || strings.HasPrefix(lower, "id_") || strings.HasSuffix(lower, ".key") {
			return "", false
		}
	}
	return name, true
}

// An entry is one of a tree object.
type entry struct{ mode, name, oid string }

func (f *files) object(oid string) (kind string, data []byte, err error) {
	if o, fresh := f.fresh[oid]; fresh {
		return o.Kind, o.Data, nil
	}
	return f.read(oid)
}

func (f *files) entries(tree string) (list []entry, err error) {
	if tree == "" || gitcmd.IsEmptyTree(tree) {
		return nil, nil
	}
	kind, data, err := f.object(tree)
	if err != nil || kind != "tree" {
		return nil, errors.Join(errUnknown, err)
	}
	for size := f.format.Size(); len(data) > 0; {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < size {
			return nil, errUnknown
		}
		list = append(list, entry{mode, name, hex.EncodeToString(rest[:size])})
		data = rest[size:]
	}
	return list, nil
}

// content is a file of a tree, nil where there is none.
func (f *files) content(tree, name string) (text *string, oid string, err error) {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		list, err := f.entries(tree)
		if err != nil {
			return nil, "", err
		}
		at := slices.IndexFunc(list, func(e entry) bool { return e.name == part })
		if at < 0 {
			return nil, "", nil
		}
		e := list[at]
		if i < len(parts)-1 {
			if e.mode != "40000" {
				return nil, "", errUnknown
			}
			tree = e.oid
			continue
		}
		if e.mode != "100644" && e.mode != "100755" {
			return nil, "", errUnknown
		}
		kind, data, err := f.object(e.oid)
		if err != nil || kind != "blob" {
			return nil, "", errors.Join(errUnknown, err)
		}
		content := string(data)
		return &content, e.oid, nil
	}
	return nil, "", errUnknown
}

// write is put for what may be recorded. Trees are pushed, so a file with a secret in its path
// or its text is in none of them.
func (f *files) write(tree, name string, content *string) (string, error) {
	if content != nil && f.secret != nil && (f.secret("path", name) || f.secret("content", *content)) {
		return "", errUnknown
	}
	return f.put(tree, name, content)
}

// put makes a tree in which a file has another content, or is gone.
func (f *files) put(tree, name string, content *string) (string, error) {
	part, rest, deeper := strings.Cut(name, "/")
	list, err := f.entries(tree)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(list, func(e entry) bool { return e.name == part })
	e := entry{mode: "100644", name: part}
	if at >= 0 {
		e = list[at]
	}
	switch {
	case deeper:
		if at >= 0 && e.mode != "40000" {
			return "", errUnknown
		}
		e.mode = "40000"
		if e.oid, err = f.put(e.oid, rest, content); err != nil {
			return "", err
		}
	case at >= 0 && e.mode == "40000":
		return "", errUnknown
	case content == nil:
		e.oid = ""
	default:
		e.oid = f.add("blob", []byte(*content))
	}
	switch {
	case e.oid == "" || gitcmd.IsEmptyTree(e.oid):
		if at >= 0 {
			list = slices.Delete(list, at, at+1)
		}
	case at >= 0:
		list[at] = e
	default:
		list = append(list, e)
	}
	key := func(e entry) string {
		if e.mode == "40000" {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(key(a), key(b)) })
	var data []byte
	for _, e := range list {
		oid, err := hex.DecodeString(e.oid)
		if err != nil {
			return "", err
		}
		data = append(append(append(data, e.mode+" "+e.name...), 0), oid...)
	}
	return f.add("tree", data), nil
}

func (f *files) add(kind string, data []byte) string {
	oid := string(odb.HashObject(f.format, kind, data))
	f.fresh[oid] = conversation.Object{Kind: kind, OID: oid, Data: data}
	return oid
}

// stored forgets objects that can be read from the store.
func (f *files) stored() { f.fresh, f.given = map[string]conversation.Object{}, map[string]bool{} }

// taken are the new objects, what is named before what names it.
func (f *files) taken() (objects []conversation.Object) {
	for _, kind := range []string{"blob", "tree"} {
		for _, o := range f.fresh {
			if o.Kind == kind && !f.given[o.OID] {
				f.given[o.OID] = true
				objects = append(objects, o)
			}
		}
	}
	return objects
}
