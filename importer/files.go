package importer

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

const (
	// maxFile is the largest file that is rebuilt: a snapshot of jp leaves larger new ones out.
	maxFile = 1 << 20
	maxPath = 4096
	// maxDry bounds the files that a dry run keeps in memory. It counts the edits of further files as not
	// rebuilt.
	maxDry = 256 << 20
)

// errUnknown means that the content of a file does not follow from its known state.
var errUnknown = errors.New("the content before it is unknown")

// errOutside means that a file is outside of the repository's working tree.
var errOutside = errors.New("outside the session's working tree")

// files are the files of a thread, as its events have them. They are rebuilt from the edits of tools, on top
// of a tree of the repository.
type files struct {
	format gitcmd.ObjectFormat
	read   func(oid string) (kind string, data []byte, err error)
	start  func() (tree string, err error) // of the newest event that is stored
	dir    string                          // the session's folder
	roots  []string                        // of the repository's working trees
	// admit is the reason why a snapshot would leave out a file with a content at a path, or "".
	admit func(name string, known bool, content string) (why string, err error)
	tree  string
	ready bool
	fresh map[string]conversation.Object // objects that may still be unstored
	given map[string]bool                // those that events have
	dry   bool                           // all objects stay in fresh
	size  int                            // bytes of that
}

type change struct {
	before, after  string // trees
	outside        []conversation.PathStat
	changed        []conversation.FileChange
	objects        []conversation.Object // of after
	outsideObjects []conversation.Object // of before
	unknown        int
	left           map[string]int // edits outside of all trees, by reason
}

func (c *change) leave(err error) {
	c.unknown++
	count(&c.left, "edit: "+err.Error())
}

// A notAdmitted is the reason why a snapshot would leave out a file.
type notAdmitted string

func (n notAdmitted) Error() string { return string(n) }

// begin finds the newest tree.
func (f *files) begin() (err error) {
	if f.ready {
		return nil
	}
	if f.tree, err = f.start(); err != nil {
		return err
	}
	f.ready = true
	if f.fresh == nil {
		f.stored()
	}
	return nil
}

// apply makes edits. Files that differ from the session's view of them change first.
func (f *files) apply(edits []Edit) (c change, err error) {
	if err := f.begin(); err != nil {
		return c, err
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
			c.leave(errOutside)
			continue
		}
		now, oid, err := f.content(c.before, name)
		if err != nil {
			c.leave(errUnknown)
			continue
		}
		from := put{path: name}
		if e.From != "" && e.From != e.Path {
			if from.path, ok = f.name(e.From); !ok {
				c.leave(errOutside)
				continue
			}
			if now, from.was, err = f.content(c.before, from.path); err != nil {
				c.leave(errUnknown)
				continue
			}
		}
		if at := slices.IndexFunc(puts, func(p put) bool { return p.path == from.path }); at >= 0 {
			now = puts[at].after
		} else if e.Before != nil && (now == nil || *now != *e.Before) && len(*e.Before) <= maxFile {
			stat := statOf(name, now, *e.Before)
			before, err := f.write(c.before, name, now != nil, e.Before)
			if err != nil {
				c.leave(err)
				continue
			}
			c.before = before
			c.outside = append(c.outside, stat)
			if now, oid, err = f.content(c.before, name); err != nil {
				return c, err
			}
		}
		after, err := e.result(now)
		if err != nil {
			c.leave(err)
			continue
		}
		if from.path != name {
			puts = append(puts, from)
		}
		puts = append(puts, put{name, after, oid})
	}
	c.outsideObjects = f.taken()
	c.after = c.before
	for _, p := range puts {
		after, err := f.write(c.after, p.path, p.was != "", p.after)
		if err != nil {
			c.leave(err)
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

// linesIn counts the occurrences of lines in a text, and finds the last one.
func linesIn(text, lines string) (n, at int) {
	for from := 0; ; {
		if strings.HasPrefix(text[from:], lines) {
			n, at = n+1, from
		}
		end := strings.IndexByte(text[from:], '\n')
		if end < 0 {
			return n, at
		}
		from += end + 1
	}
}

// statOf counts the lines of a change to a file. before is nil if the file is new. A binary file has no
// lines.
func statOf(path string, before *string, after string) conversation.PathStat {
	stat := conversation.PathStat{Path: path, Status: "M"}
	if before == nil {
		before, stat.Status = new(string), "A"
	}
	if strings.Contains(*before+after, "\x00") {
		stat.Added, stat.Deleted = -1, -1
		return stat
	}
	lines := func(text string) int { return len(slices.Collect(strings.Lines(text))) }
	for _, e := range udiff.Lines(*before, after) {
		stat.Deleted, stat.Added = stat.Deleted+lines((*before)[e.Start:e.End]), stat.Added+lines(e.New)
	}
	return stat
}

// result is a file after an edit, nil if it is deleted.
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
		n, at := 0, 0
		switch {
		case r.Old == "":
		case e.Lines:
			n, at = linesIn(text, r.Old)
		default:
			n = strings.Count(text, r.Old)
		}
		switch {
		case r.Old == "" && text == "":
			text = r.New
		case n == 1 && e.Lines:
			text = text[:at] + r.New + text[at+len(r.Old):]
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

// name is the path of a file in the working tree in which the session ran, else below its folder.
// ok is false for one outside.
func (f *files) name(file string) (name string, ok bool) {
	dir := f.dir
	if windows(dir) || windows(file) {
		dir, file = strings.ReplaceAll(dir, `\`, "/"), strings.ReplaceAll(file, `\`, "/")
		if below := cutFold(file, dir); below != "" {
			file = below
		} else if windows(file) || strings.HasPrefix(file, "/") {
			return "", false
		}
		dir = ""
	}
	if file == "" || len(file) > maxPath || strings.ContainsRune(file, 0) {
		return "", false
	}
	name = file
	root := dir
	for _, r := range f.roots {
		if within(dir, r) && (root == dir || len(r) > len(root)) {
			root = r
		}
	}
	if filepath.IsAbs(file) {
		if !within(file, root) {
			return "", false
		}
		name, _ = filepath.Rel(root, file)
	} else if root != dir {
		below, _ := filepath.Rel(root, dir)
		name = filepath.Join(below, file)
	}
	name = path.Clean(filepath.ToSlash(name))
	if name == "." || name == ".." || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/") {
		return "", false
	}
	return name, true
}

// windows reports whether a path is an absolute one of Windows.
func windows(file string) bool {
	if strings.HasPrefix(file, `\\`) {
		return true
	}
	return len(file) > 2 && file[1] == ':' && (file[2] == '\\' || file[2] == '/') && (file[0]|0x20 >= 'a' && file[0]|0x20 <= 'z')
}

// cutFold is a file below a folder, in any case, "" for one outside.
func cutFold(file, dir string) string {
	dir = strings.TrimSuffix(dir, "/") + "/"
	if len(file) <= len(dir) || !strings.EqualFold(file[:len(dir)], dir) {
		return ""
	}
	return file[len(dir):]
}

// rootsOf are the working trees of a repository, and those that an agent made for a session in the
// folder dir and that may be gone.
func rootsOf(r gitcmd.Repository, dir string) (roots []string) {
	if r.TopLevel != "" {
		roots = append(roots, r.TopLevel)
	}
	notes, _ := filepath.Glob(filepath.Join(r.CommonDir, "worktrees", "*", "gitdir")) // empty for a path that is a pattern
	for _, note := range notes {
		if line, err := os.ReadFile(note); err == nil {
			roots = append(roots, filepath.Dir(strings.TrimSpace(string(line))))
		}
	}
	const made = "/.claude/worktrees/"
	if at := strings.Index(dir, made); at >= 0 && slices.Contains(roots, dir[:at]) {
		name, _, _ := strings.Cut(dir[at+len(made):], "/")
		roots = append(roots, dir[:at]+made+name)
	}
	return roots
}

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

// content is a file of a tree, nil if it is missing.
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

// write is put within the rules of a snapshot.
func (f *files) write(tree, name string, known bool, content *string) (string, error) {
	if f.dry && f.size > maxDry {
		return "", errUnknown
	}
	if content != nil && f.admit != nil {
		why, err := f.admit(name, known, *content)
		if err == nil && why != "" {
			err = notAdmitted(why)
		}
		if err != nil {
			return "", err
		}
	}
	now := entry{}
	if content != nil {
		now.oid = f.add("blob", []byte(*content))
	}
	return f.put(tree, name, now)
}

// put makes a tree in which a path has other content, or is gone without any. Without a mode it keeps its own.
func (f *files) put(tree, name string, now entry) (string, error) {
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
		if e.oid, err = f.put(e.oid, rest, now); err != nil {
			return "", err
		}
	case at >= 0 && e.mode == "40000":
		return "", errUnknown
	default:
		e.oid, e.mode = now.oid, cmp.Or(now.mode, e.mode)
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
	f.size += len(data)
	f.fresh[oid] = conversation.Object{Kind: kind, OID: oid, Data: data}
	return oid
}

// stored forgets objects that can be read from the store.
func (f *files) stored() { f.fresh, f.given = map[string]conversation.Object{}, map[string]bool{} }

// taken are the new objects. An object comes before those that name it.
func (f *files) taken() (objects []conversation.Object) {
	if f.dry {
		return nil
	}
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
