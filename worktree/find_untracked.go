package worktree

import (
	"context"
	"fmt"
	"io"
	"os"
	gopath "path"
	"slices"
	"strings"
	"sync"

	"jp/gitcmd"
)

// UntrackedFiles are the names of untracked files without ignored ones, at one moment. Their content is in
// no tree.
type UntrackedFiles struct {
	listing  *untrackedListing
	recorded map[string]struct{} // of the listing, those that a tree has since
	gone     map[string]struct{} // that were there earlier
	hidden   map[string]struct{} // tracked ones that the user hid from git
	written  []string            // since the mark of the snapshot that listed them, sorted
	lister   *untrackedLister
}

// newUntracked are the files of a listing.
func newUntracked(listing *untrackedListing) *UntrackedFiles {
	return &UntrackedFiles{listing: listing, recorded: map[string]struct{}{}, gone: map[string]struct{}{}}
}

// Hides reports whether git was told not to look at an existing file.
func (o *UntrackedFiles) Hides(path string) bool {
	if o == nil {
		return false
	}
	_, hidden := o.hidden[path]
	return hidden
}

// Had reports whether there is or was such a file.
func (o *UntrackedFiles) Had(path string) bool {
	if o == nil {
		return false
	}
	_, gone := o.gone[path]
	return o.there(path) || gone
}

// there reports whether there is such a file, in no tree.
func (o *UntrackedFiles) there(path string) bool {
	_, recorded := o.recorded[path]
	return !recorded && o.listing.Has(path)
}

// Crowded is the folder with the most of very many such files. ok is false if there are fewer than least.
func (o *UntrackedFiles) Crowded(least int) (folder string, files int, ok bool) {
	if o == nil {
		return "", 0, false
	}
	return o.listing.crowded(least)
}

// FindUntracked lists the untracked files without ignored ones. A tool may write them before jp has read
// them. The list keeps the files that an earlier list, which may be nil, knows to be gone. It is nil
// without snapshots, and if git cannot list them.
func (w *Worktree) FindUntracked(ctx context.Context, earlier *UntrackedFiles) (*UntrackedFiles, error) {
	if w.opts.Mode == Off || w.tooWide() {
		return nil, nil
	}
	user, _ := identify(w.userIndex()) // without an index all files are untracked
	s := &snapshot{w: w, known: known{user: user}}
	flagged, err := s.hidden(ctx)
	if err != nil {
		return nil, fmt.Errorf("list files that git does not look at: %w", err)
	}
	hidden := s.meetHidden(flagged)
	listing, err := w.lister.List(ctx)
	if refused(err) != "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	o := newUntracked(listing)
	o.hidden, o.lister = hidden, w.lister
	if earlier != nil {
		o.gone = earlier.gone
	}
	return o, nil
}

// WithIgnored are the untracked files, with those that git ignores outside of ignored folders, the folders
// that git skips, each with a slash at its end, and the folders without entries.
func (o *UntrackedFiles) WithIgnored(ctx context.Context) (files, closed, empty []string, err error) {
	if o == nil || o.listing == nil {
		return nil, nil, nil, nil
	}
	if files, closed, empty, err = o.lister.ignored(ctx, o.listing); err != nil {
		return nil, nil, nil, fmt.Errorf("list ignored files: %w", err)
	}
	for _, path := range o.listing.paths() {
		if !isFolder(path) {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files, closed, empty, nil
}

// list lists the untracked files of the index that this snapshot works on.
func (s *snapshot) list(ctx context.Context) (*untrackedListing, error) {
	if !s.kept {
		return s.w.lister.List(ctx)
	}
	paths, err := s.untracked(ctx, nil)
	return listingOf(paths), err
}

// unlisted are the untracked files to look at, sorted: those that were written since the mark, and those
// that are new since then.
func (s *snapshot) unlisted(now *untrackedListing) []string {
	if now == nil {
		return nil
	}
	since := *s.opts.Since
	written := now.written(s.w.repo.TopLevel, changeTime(since))
	if s.others != nil {
		s.others.written = written
	}
	paths := slices.Concat(written, now.repositories())
	if s.opts.Unchanged != nil {
		paths = slices.DeleteFunc(paths, s.opts.Unchanged)
	}
	if earlier := s.opts.ListUntracked; earlier != nil {
		paths = append(paths, now.lacks(earlier.listing)...)
		for path := range earlier.recorded {
			if now.Has(path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Untouched reports which files are as they were at an earlier list, after which the mark of the snapshot was
// made: their folders have the same entries, and they have no write since.
func (o *UntrackedFiles) Untouched(earlier *UntrackedFiles) func(path string) bool {
	return func(path string) bool {
		if o == nil || earlier == nil || !o.listing.keeps(earlier.listing, path) {
			return false
		}
		_, written := slices.BinarySearch(o.written, path)
		return !written
	}
}

// appeared reports whether a file that was not written since the mark has come with one of its folders: it
// is new there, and the folder changed since. A file that git has ceased to ignore is there as it was.
func (s *snapshot) appeared(path string) bool {
	if s.opts.ListUntracked == nil || s.opts.Since == nil || s.opts.ListUntracked.Had(path) {
		return false
	}
	for dir := gopath.Dir(path); dir != "."; dir = gopath.Dir(dir) {
		if st, err := s.w.lookup(dir); err != nil || !changed(st).before(*s.opts.Since) {
			return err == nil
		}
	}
	return false
}

// isFolder reports whether git listed a whole folder: another repository.
func isFolder(path string) bool { return strings.HasSuffix(path, "/") }

// leaveGone notes the untracked files that have disappeared.
func (s *snapshot) leaveGone(p *plan) {
	if s.others == nil {
		return
	}
	for path := range s.opts.ListUntracked.gone {
		s.others.gone[path] = struct{}{}
	}
	for _, path := range s.opts.ListUntracked.listing.lacks(s.others.listing) {
		if !s.opts.ListUntracked.there(path) {
			continue
		}
		if st, err := s.w.lookup(path); (isNotExist(err) || err == nil && isDir(st) && !isFolder(path)) && p.first(path) {
			p.left[path] = WhyGone
			s.others.gone[path] = struct{}{}
		}
	}
}

// Recorded removes from the others the files that the trees have from now on, or had.
func (o *UntrackedFiles) Recorded(changes []Change) {
	if o == nil {
		return
	}
	for _, c := range changes {
		o.recorded[c.Path] = struct{}{}
		delete(o.gone, c.Path)
	}
}

// WithoutBaseline are the changed files whose content before the tool is in no tree: first the files that
// the tree before has, in the order of the changes, then new ones that may be older than the tool. The tool
// began at since. unread names files that no snapshot read then, had the untracked files of that time, and
// inodes are those of the tree, or nil. A new file is the tool's if its name is new, and it was made since
// or is one that the tree had at another path: by its content, or by its inode. If the file system does not
// tell when files were made, the name decides.
func (w *Worktree) WithoutBaseline(changes []Change, since Timestamp, had func(path string) bool, inodes *Inodes, unread func(path string) bool) []string {
	moved := Moves(changes)
	renamed := sync.OnceValue(func() map[uint32]bool {
		gone := map[string]bool{} // another file may have the name by now
		for _, c := range changes {
			gone[c.Path] = c.Before != ""
		}
		return inodes.of(gone)
	})
	isRenamed := func(path string) bool {
		st, err := w.lookup(path)
		return err == nil && renamed()[uint32(st.Ino)]
	}
	var were, found []string
	for _, c := range changes {
		if c.Before != "" {
			if unread(c.Path) {
				were = append(were, c.Path)
			}
			continue
		}
		if c.After == "" {
			continue
		}
		born := born(w.abs(c.Path))
		older := born != (Timestamp{}) && born.before(since)
		if _, known := moved[c.Path]; had(c.Path) || unread(c.Path) || older && !known && !isRenamed(c.Path) {
			found = append(found, c.Path)
		}
	}
	return append(were, found...)
}

// Moves pairs new paths with removed ones of the same content: first those of the same name, then others
// unless they are empty, since all empty files look alike. Each path is in one pair at most.
func Moves(changes []Change) (from map[string]string) {
	from = map[string]string{}
	gone := map[string][]string{} // by content
	for _, c := range changes {
		if c.After == "" {
			gone[c.Before] = append(gone[c.Before], c.Path)
		}
	}
	pair := func(fits func(was string, c Change) bool) {
		for _, c := range changes {
			if _, done := from[c.Path]; done || c.Before != "" {
				continue
			}
			at := slices.IndexFunc(gone[c.After], func(was string) bool { return fits(was, c) })
			if at >= 0 {
				from[c.Path] = gone[c.After][at]
				gone[c.After] = slices.Delete(gone[c.After], at, at+1)
			}
		}
	}
	pair(func(was string, c Change) bool { return gopath.Base(was) == gopath.Base(c.Path) })
	pair(func(_ string, c Change) bool { return !gitcmd.IsEmptyBlob(c.After) })
	return from
}

// Inodes are the inodes that the files of a tree had at a moment. A file that has the inode of one that
// is gone was renamed, also if a program changed it.
type Inodes struct {
	index *os.File          // as it was at that moment: git replaces the file, and never writes into it
	also  map[string]uint32 // of paths of which the index is out of date
	size  int               // bytes of an object name
}

// InodesOf notes the inodes of the files that the tree has. It reads only the few files of which the index
// is out of date.
func InodesOf(w *Worktree, tree string) *Inodes {
	known := w.recall(tree)
	file := w.userIndex()
	if known.kept {
		file = w.keptIndex()
	}
	n := &Inodes{also: map[string]uint32{}, size: w.repo.ObjectFormat.Size()}
	n.index, _ = os.Open(file)
	for _, path := range known.but {
		if st, err := w.lookup(path); err == nil {
			n.also[path] = uint32(st.Ino)
		}
	}
	return n
}

// Close frees the index.
func (n *Inodes) Close() {
	if n != nil && n.index != nil {
		n.index.Close()
	}
}

// of are the inodes of paths. Those that it does not know are left out.
func (n *Inodes) of(paths map[string]bool) map[uint32]bool {
	found := map[uint32]bool{}
	if n == nil {
		return found
	}
	for path, inode := range n.also {
		if paths[path] {
			found[inode] = true
		}
	}
	if n.index == nil {
		return found
	}
	data, err := io.ReadAll(io.LimitReader(n.index, maxIndex))
	if err != nil {
		return found
	}
	entries, err := parseIndex(data, n.size)
	if err != nil {
		return found
	}
	for i := range entries {
		e := &entries[i]
		if _, newer := n.also[string(e.Path)]; !newer && e.Inode != 0 && paths[string(e.Path)] {
			found[e.Inode] = true
		}
	}
	return found
}
