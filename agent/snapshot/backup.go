package snapshot

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"jp/agent/repo"
	"jp/backup"
	"jp/gitstore/trees"
	"jp/internal/safetext"
	"jp/turnloop"
	"jp/worktree"
)

// backups are the store of the copies, and the trees that have the other files.
type backups struct {
	store *backup.Store // nil: jp makes no copies
	trees trees.Reader
}

// Backups are the copies of files outside of all trees, or nil.
func (f *Files) Backups() *backup.Store { return f.backups.store }

func (f *Files) openBackups(r *repo.Repo) {
	if r.Config.Backup.Enable {
		f.backups = backups{r.Standings().Backups(), r.Trees}
	}
}

// odd reports the modes that a backup keeps of tracked files, or is nil.
func (f *Files) odd() func(uint32) bool {
	if f.backups.store == nil {
		return nil
	}
	return backup.OddMode
}

// request is of all files outside of the trees that the call may change.
func (f *Files) request(ctx context.Context, at turnloop.SnapshotRequest, snap worktree.Snapshot) (backup.Request, error) {
	r := backup.Request{Conversation: string(at.Call.Conversation), Turn: at.Call.Turn, Call: at.Call.Seq}
	if at.Only != nil {
		r.Part = true
		known, err := trees.Files(ctx, f.backups.trees, at.Tree, at.Only)
		missed := missedBy(snap)
		for _, path := range at.Only {
			if known[path] == (trees.Version{}) || missed.has(path) {
				r.Paths = append(r.Paths, path)
			}
		}
		return r, err
	}
	var err error
	if r.Paths, r.Closed, r.Folders, err = f.untracked().WithIgnored(ctx); err != nil {
		return r, err
	}
	for _, l := range snap.LeftOut { // files that differ in the tree
		if l.Path != "." && l.Why != worktree.WhyGone {
			r.Paths = append(r.Paths, l.Path)
		}
	}
	for _, pattern := range f.backups.store.Include() {
		named, err := fs.Glob(os.DirFS(f.git.TopLevel), pattern)
		if err != nil {
			return r, err
		}
		r.Paths = append(r.Paths, named...)
	}
	slices.Sort(r.Paths)
	r.Paths, r.Modes = slices.Compact(r.Paths), snap.Modes
	return r, nil
}

// backUp makes a moment before a call, or gives the reason for its absence.
func (f *Files) backUp(ctx context.Context, at turnloop.SnapshotRequest, snap worktree.Snapshot, now worktree.Timestamp) (*backup.Moment, string) {
	if f.backups.store == nil || at.Call == nil {
		return nil, ""
	}
	r, err := f.request(ctx, at, snap)
	r.At = now.Nanoseconds()
	r.Folders = append(r.Folders, f.oddFolders(r.Paths)...)
	if err == nil {
		var m *backup.Moment
		if m, err = f.backups.store.Make(ctx, r); err == nil {
			return m, ""
		}
	}
	return nil, err.Error()
}

// oddFolders are the folders of files that have another mode than a checkout gives. Git would make them anew for all to read.
func (f *Files) oddFolders(paths []string) (odd []string) {
	seen := map[string]bool{".": true}
	for _, file := range paths {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			var st unix.Stat_t
			if unix.Lstat(filepath.Join(f.git.TopLevel, dir), &st) == nil && backup.OddMode(uint32(st.Mode)) {
				odd = append(odd, dir)
			}
		}
	}
	return odd
}

// compare keeps the files that differ from a call's moment, and the files that a tree has since the call. It
// returns the paths of both.
func (f *Files) compare(ctx context.Context, at turnloop.SnapshotRequest, m *backup.Moment, snap worktree.Snapshot, found []string, untouched func(string) bool) (differ []string) {
	if m == nil || at.Call == nil {
		return nil
	}
	r, err := f.request(ctx, at, snap)
	if err == nil {
		recorded := map[string]bool{} // new files in the tree
		for _, c := range snap.Changes {
			recorded[c.Path] = c.Before == "" && c.After != ""
		}
		r.Found, r.Untouched = found, untouched
		r.Paths = slices.DeleteFunc(r.Paths, func(path string) bool { return recorded[path] || untouched(path) })
		if r.Paths, err = f.withoutUnstaged(ctx, at.Tree, m, snap, r.Paths); err == nil {
			var changes []backup.Change
			changes, err = f.backups.store.Compare(ctx, m, r, at.Event)
			for _, c := range changes {
				differ = append(differ, c.Path())
			}
		}
	}
	if err != nil {
		f.Tell("Undo will not know all that this tool changed: " + err.Error())
	}
	return differ
}

// compareLost keeps the files that differ from a lost call's moment, by the call or anybody since.
func (f *Files) compareLost(ctx context.Context, at turnloop.SnapshotRequest, snap worktree.Snapshot) []string {
	if f.backups.store == nil {
		return nil
	}
	m, err := f.backups.store.Before(string(at.Call.Conversation), at.Call.Seq, true)
	if err == nil && (m == nil || m.Call != at.Call.Seq || m.Worktree != f.git.TopLevel) {
		return nil
	}
	if err == nil && m.Part { // of the files that the call names
		if at.Only = at.Named; at.Only == nil {
			return nil
		}
	} else if err == nil {
		var others *worktree.UntrackedFiles
		others, err = f.Tree.FindUntracked(ctx, f.untracked())
		f.list(others)
	}
	if err != nil {
		f.Tell("Undo will not know all that changed since the interrupted tool began: " + err.Error())
		return nil
	}
	return f.compare(ctx, at, m, snap, nil, func(string) bool { return false })
}

// had reports which untracked files were there before a call, by its moment, or without one by the last
// listing.
func had(before *worktree.UntrackedFiles, m *backup.Moment) func(path string) bool {
	if m == nil {
		return before.Had
	}
	return m.Had
}

// withoutUnstaged leaves out files that are untracked since a call, but were there before it: the tree before
// has them.
func (f *Files) withoutUnstaged(ctx context.Context, tree string, m *backup.Moment, snap worktree.Snapshot, paths []string) ([]string, error) {
	var fresh []string
	missed := missedBy(snap)
	for _, path := range paths {
		if !m.Had(path) && !missed.has(path) {
			fresh = append(fresh, path)
		}
	}
	if len(fresh) == 0 {
		return paths, nil
	}
	known, err := trees.Files(ctx, f.backups.trees, tree, fresh)
	return slices.DeleteFunc(paths, func(path string) bool { return known[path] != (trees.Version{}) }), err
}

// NoCopy lists the present files that a backup would lack: ignored folders and files over the bounds. It is
// nil if jp makes no backups here.
func (f *Files) NoCopy(ctx context.Context) func() []turnloop.UncopiedFile {
	if f.backups.store == nil {
		return nil
	}
	return func() (all []turnloop.UncopiedFile) {
		listed, err := f.Tree.FindUntracked(ctx, f.untracked())
		if err != nil {
			return nil
		}
		paths, closed, _, err := listed.WithIgnored(ctx)
		if err != nil {
			return nil
		}
		for _, e := range f.backups.store.Uncopied(paths) {
			all = append(all, turnloop.UncopiedFile{Path: e.Path, Shown: safetext.Show(e.Path) + " (" + e.Extent() + ")"})
		}
		for _, folder := range closed {
			all = append(all, turnloop.UncopiedFile{Path: folder, Shown: safetext.Show(folder)})
		}
		return all
	}
}
