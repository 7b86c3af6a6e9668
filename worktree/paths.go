package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// errAskGit says that only git itself records a path right.
var errAskGit = errors.New("git has to record this path")

// SnapshotPaths is Snapshot for a tool that changed only the named paths. It works in process without
// writing: the caller writes the Objects, before anything that names the tree. ok is false if git converts
// a path's content, something odd is at the path, or the path configures how git records others. The caller
// then uses Snapshot. It does not see changes of other paths.
func (w *Worktree) SnapshotPaths(
	ctx context.Context, parentTree string, paths []string, objects ObjectReader,
) (taken Snapshot, ok bool, err error) {
	if w.opts.Mode == Off {
		return Snapshot{Tree: parentTree}, true, nil
	}
	if err := w.admit(parentTree, paths); err != nil {
		return Snapshot{}, false, fmt.Errorf("snapshot named paths: %w", err)
	}
	if slices.ContainsFunc(paths, rulesFile) {
		return Snapshot{}, false, nil
	}
	n := w.named(parentTree, objects)
	err = n.make(ctx, slices.Compact(slices.Sorted(slices.Values(paths))))
	if errors.Is(err, errAskGit) {
		return Snapshot{}, false, nil
	}
	if err != nil {
		return Snapshot{}, false, fmt.Errorf("snapshot named paths: %w", err)
	}
	w.follow(ctx, parentTree, &n.taken)
	return n.taken, true, nil
}

// TreeWithout is a tree without some paths, and the objects that it needs beside those of the tree.
func TreeWithout(format gitcmd.ObjectFormat, tree string, paths []string, objects ObjectReader) (without string, made []Object, err error) {
	reader, changes, found := &treeReader{format: format, objects: objects, read: map[string][]entry{}}, newEdits(), false
	for _, path := range paths {
		old, err := reader.find(tree, path)
		if err != nil {
			return "", nil, fmt.Errorf("take %s out of a tree: %w", path, err)
		}
		if old.oid != "" && old.mode != modeTree {
			changes.set(path, entry{})
			found = true
		}
	}
	if !found {
		return tree, nil, nil
	}
	if without, err = reader.apply(tree, changes, &made); err == nil && without == "" {
		without = format.EmptyTree()
		made = append(made, newObject(format, "tree", nil))
	}
	return without, made, err
}

// pathSnapshot is one in-process snapshot in the making.
type pathSnapshot struct {
	w      *Worktree
	parent string
	trees  *treeReader
	edits  *edits
	budget budget
	taken  Snapshot

	away map[string]Version // the paths that a sparse checkout leaves out, as in the index
}

func (w *Worktree) named(parentTree string, objects ObjectReader) *pathSnapshot {
	return &pathSnapshot{
		w: w, parent: parentTree, edits: newEdits(), budget: budget(w.opts.NewContent),
		trees: &treeReader{format: w.repo.ObjectFormat, objects: objects, read: map[string][]entry{}},
	}
}

func (n *pathSnapshot) make(ctx context.Context, paths []string) error {
	rules, err := n.w.rulesFor(ctx, paths)
	if err != nil {
		return err
	}
	if why, _, err := n.w.unconverted(ctx, paths, true); err != nil || len(why) > 0 {
		return errors.Join(errAskGit, err)
	}
	ignored, err := n.ignored(ctx, paths)
	if err != nil {
		return err
	}
	if n.away, err = n.sparse(ctx, paths, rules); err != nil {
		return err
	}
	for _, path := range paths {
		if err := n.take(path, rules[path], ignored[path]); err != nil {
			return err
		}
	}
	return n.finish()
}

// finish makes the trees of the noted entries.
func (n *pathSnapshot) finish() error {
	if len(n.taken.Changes) == 0 {
		n.taken.Tree, n.taken.Objects = n.parent, nil
		return nil
	}
	root, err := n.trees.apply(n.parent, n.edits, &n.taken.Objects)
	if err != nil {
		return err
	}
	if root == "" {
		root = n.w.repo.ObjectFormat.EmptyTree()
		n.taken.Objects = append(n.taken.Objects, newObject(n.w.repo.ObjectFormat, "tree", nil))
	}
	n.taken.Tree = root
	return nil
}

// ignored asks which of the paths that the tree lacks git ignores.
func (n *pathSnapshot) ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	var fresh []string
	for _, path := range paths {
		old, err := n.trees.find(n.parent, path)
		if err != nil {
			return nil, err
		}
		if old.oid == "" {
			fresh = append(fresh, path)
		}
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	ignored, err := n.w.rules.Ignored(ctx, fresh)
	if err != nil {
		return nil, errors.Join(errAskGit, err)
	}
	return ignored, nil
}

// sparse finds those of the paths that are missing because the checkout is sparse.
func (n *pathSnapshot) sparse(ctx context.Context, paths []string, rules map[string]pathRules) (map[string]Version, error) {
	gone := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, err := n.w.lookup(path)
		return !rules[path].sparse || !isNotExist(err)
	})
	if len(gone) == 0 {
		return nil, nil
	}
	out, err := n.w.git.Run(ctx, append([]string{"ls-files", "-z", "-v", "--stage", "--"}, gone...)...)
	if err != nil {
		return nil, errors.Join(errAskGit, err)
	}
	away := map[string]Version{}
	for _, line := range splitNUL(out) {
		words, path, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(words); len(fields) == 4 && skipped(fields[0][0]) {
			away[path] = Version{Mode: fields[1], OID: fields[2]}
		}
	}
	return away, nil
}

// take decides about one path and notes the change.
func (n *pathSnapshot) take(path string, rules pathRules, ignored bool) error {
	old, err := n.old(path)
	if err != nil {
		return err
	}
	st, err := n.w.lookup(path)
	if isNotExist(err) && n.away[path] == (Version{Mode: old.mode, OID: old.oid}) {
		return nil
	}
	if isNotExist(err) {
		return n.remove(path, old)
	}
	if err != nil || isDir(st) || old.mode == modeTree {
		return errAskGit
	}
	why := ""
	switch {
	case old.oid != "":
		why = admitKnown(st, &n.budget)
	case ignored:
		why = whyIgnored
	default:
		why = admitNew(path, st, n.w.opts.NewFile, &n.budget)
	}
	if why == "" {
		why = n.w.inspect(path, st, func() []byte { return n.before(old) })
	}
	if why != "" {
		n.taken.LeftOut = append(n.taken.LeftOut, Skipped{Path: path, Why: why})
		return nil
	}
	return n.put(path, old, st, rules)
}

// old is the parent tree's entry of a path without anything special for git.
func (n *pathSnapshot) old(path string) (entry, error) {
	old, err := n.trees.find(n.parent, path)
	if err != nil {
		return entry{}, err
	}
	if old.mode == modeSub || isUnsafeName(path) || n.w.otherRepository(path) != "" || n.replacesFile(path) {
		return entry{}, errAskGit
	}
	return old, nil
}

// isUnsafeName reports whether git may refuse a name, on this system or another one.
func isUnsafeName(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.ContainsFunc(parts, reserved) || gitcmd.FsckName(path) != "" || gitcmd.FsckReads(path, true) || gitcmd.FsckReads(path, false)
}

// before is the content that the tree has, nil if absent.
func (n *pathSnapshot) before(old entry) []byte {
	if old.oid == "" {
		return nil
	}
	_, data, _ := n.trees.objects.ReadObject(old.oid) // unreadable content counts as unknown
	return data
}

// replacesFile reports whether the tree has a file in the place of the path's folder.
func (n *pathSnapshot) replacesFile(path string) bool {
	for i, c := range path {
		if c != '/' {
			continue
		}
		if above, err := n.trees.find(n.parent, path[:i]); err != nil || above.oid != "" && above.mode != modeTree {
			return true
		}
	}
	return false
}

func (n *pathSnapshot) remove(path string, old entry) error {
	if old.oid == "" {
		return nil
	}
	if old.mode == modeTree {
		return errAskGit
	}
	n.edits.set(path, entry{})
	n.note(path, old, entry{}, nil, pathRules{})
	return nil
}

// put notes the content of a file or symbolic link.
func (n *pathSnapshot) put(path string, old entry, st *unix.Stat_t, rules pathRules) error {
	data, err := n.w.content(path, st)
	if err != nil {
		return errors.Join(errAskGit, err)
	}
	mode := modeLink
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		if rules.convert(data) {
			return errAskGit
		}
		mode = rules.fileMode(old, st)
		if !rules.links && old.mode == modeLink {
			return errAskGit // it is a link that is checked out as a file
		}
	} else if lower := strings.ToLower(path); !rules.links || strings.Contains(lower, "git") || strings.Contains(lower, "~") {
		return errAskGit // git's own files must be regular
	}
	blob := newObject(n.w.repo.ObjectFormat, "blob", data)
	if old.oid == blob.OID && old.mode == mode {
		return nil
	}
	n.edits.set(path, entry{mode: mode, oid: blob.OID})
	if old.oid != blob.OID {
		n.taken.Objects = append(n.taken.Objects, blob)
	}
	n.note(path, old, entry{mode: mode, oid: blob.OID}, data, rules)
	return nil
}

// note adds a Change with its line counts.
func (n *pathSnapshot) note(path string, from, to entry, after []byte, rules pathRules) {
	c := Change{Path: path, Status: "M", Before: from.oid, After: to.oid}
	var before []byte
	switch {
	case from.oid == "":
		c.Status = "A"
	case to.oid == "":
		c.Status = "D"
	}
	counted := true
	if from.oid != "" {
		_, data, err := n.trees.objects.ReadObject(from.oid)
		before, counted = data, err == nil // a partial clone may lack it, and the tree names it all the same
	}
	c.Added, c.Deleted = -1, -1
	if counted {
		c.Added, c.Deleted = lineCounts(before, after, rules.binary)
	}
	n.taken.Changes = append(n.taken.Changes, c)
}

// content reads a file or the target of a link. If another process puts another file in its place
// meanwhile, content does not read that one.
func (w *Worktree) content(path string, st *unix.Stat_t) ([]byte, error) {
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		target, err := os.Readlink(w.abs(path))
		return []byte(target), err
	}
	f, err := os.OpenFile(w.abs(path), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var now unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &now); err != nil {
		return nil, err
	}
	if now.Dev != st.Dev || now.Ino != st.Ino {
		return nil, fmt.Errorf("%q was replaced", path)
	}
	return io.ReadAll(f)
}

// otherRepository is the outermost folder of the path that is a repository of its own, "" for none.
func (w *Worktree) otherRepository(path string) string {
	for i, c := range path {
		if c != '/' {
			continue
		}
		if _, err := os.Lstat(w.abs(path[:i] + "/.git")); err == nil {
			return path[:i]
		}
	}
	return ""
}

// lineCounts counts lines as git does: content with a NUL near its beginning
// is binary.
func lineCounts(before, after []byte, binary bool) (added, deleted int) {
	if binary || hasNUL(before) || hasNUL(after) {
		return -1, -1
	}
	for _, edit := range udiff.Lines(string(before), string(after)) {
		added += countOf([]byte(edit.New))
		deleted += countOf(before[edit.Start:edit.End])
	}
	return added, deleted
}

func hasNUL(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
}

// countOf counts lines. The last one may lack its end.
func countOf(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}
