package worktree

import (
	"context"
	"io/fs"
	"maps"
	gopath "path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// Why a folder is left out in which another repository has its files.
const (
	whyInSubmodule = "changed inside the submodule"
	whyInNested    = "changed inside another repository"
	whyManyInside  = "perhaps changed inside: it has too many files to look at"
)

// mostInside is how many files and folders of other repositories are looked at in one
// snapshot.
const mostInside = 200_000

// leaveInside notes the submodules and the nested repositories in which files were written, made or removed
// since the mark. It does not record their files. It goes by their times without asking git, which would
// obey the configuration of that repository.
func (s *snapshot) leaveInside(ctx context.Context, p *plan, found scan) {
	if s.opts.Since == nil || !s.opts.Untracked {
		return
	}
	why := map[string]string{}
	for _, path := range found.listing.repositories() {
		why[strings.TrimSuffix(path, "/")] = whyInNested
	}
	for _, path := range found.submodules {
		why[path] = whyInSubmodule
	}
	told := map[string]bool{} // files that are left out by name, and their folders
	for path := range p.left {
		for ; path != "." && !told[path]; path = gopath.Dir(path) {
			told[path] = true
		}
	}
	left := mostInside
	for _, path := range slices.Sorted(maps.Keys(why)) {
		// If the submodule's HEAD moved, the snapshot has the new commit, and the files that equal that
		// repository's index came with it.
		moved := slices.ContainsFunc(found.dirty, func(r raw) bool { return r.path == path && r.status == 'M' })
		known := map[string]*indexEntry{}
		if moved {
			known = s.w.indexInside(path)
		}
		switch changed := s.changedInside(ctx, path, known, moved, told, &left); {
		case left < 0:
			p.left[path] = whyManyInside
		case changed:
			p.left[path] = why[path]
		}
	}
}

// changedInside reports whether a file below a folder was written since the mark, apart from files that
// equal an index and from paths that are reported already. If HEAD moved, folders do not count: a checkout
// changes them. It charges its work to left.
func (s *snapshot) changedInside(ctx context.Context, folder string, known map[string]*indexEntry, moved bool, told map[string]bool, left *int) (found bool) {
	top := s.w.abs(folder)
	if st, err := s.w.lookup(folder); err != nil || !isDir(st) {
		return false
	}
	made := false // the repository was, since then
	topChanged := false
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if *left--; *left < 0 || ctx.Err() != nil {
			return filepath.SkipAll
		}
		rel, _ := filepath.Rel(top, path)
		if rel == ".git" {
			born := born(path)
			made = born == (Timestamp{}) || !born.before(*s.opts.Since)
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		var st unix.Stat_t
		if err != nil || unix.Lstat(path, &st) != nil {
			return nil // it is gone or unreadable; its folder tells
		}
		if changed(&st).before(*s.opts.Since) || moved && d.IsDir() {
			return nil
		}
		if e := known[filepath.ToSlash(rel)]; e != nil && same(e, &st) {
			return nil
		}
		if told[folder+"/"+filepath.ToSlash(rel)] || path == top && told[folder] {
			return nil
		}
		if path == top { // the tool may have made the repository in it
			topChanged = true
			return nil
		}
		found = true
		return filepath.SkipAll
	})
	return found || topChanged && !made
}

// indexInside is the index of a submodule by path, as far as jp can read it.
func (w *Worktree) indexInside(folder string) map[string]*indexEntry {
	known := map[string]*indexEntry{}
	dir := filepath.Join(w.abs(folder), ".git")
	if link, ok := strings.CutPrefix(firstLine(dir), "gitdir: "); ok {
		if dir = link; !filepath.IsAbs(link) {
			dir = filepath.Join(w.abs(folder), link)
		}
	}
	data, _, err := readIndex(filepath.Join(dir, "index"))
	if err != nil {
		return known
	}
	entries, err := parseIndex(data, gitcmd.SHA1.Size())
	if err != nil { // a nested repository may have another format than the outer one
		entries, err = parseIndex(data, gitcmd.SHA256.Size())
	}
	if err != nil {
		return known
	}
	for i := range entries {
		known[string(entries[i].Path)] = &entries[i]
	}
	return known
}

// submodules lists those of the index.
func (s *snapshot) submodules(ctx context.Context) (paths []string, err error) {
	data, _, err := readIndex(s.w.userIndex())
	if err == nil {
		var entries []indexEntry
		if entries, err = parseIndex(data, s.w.repo.ObjectFormat.Size()); err == nil {
			for i := range entries {
				if entries[i].Mode == 0o160000 {
					paths = append(paths, string(entries[i].Path))
				}
			}
			return slices.Compact(paths), nil
		}
	}
	out, err := s.w.git.RunWith(ctx, gitcmd.Command{Args: []string{"ls-files", "-z", "--stage"}})
	if err != nil {
		return nil, err
	}
	for _, line := range splitNUL(out) {
		if entry, path, _ := strings.Cut(line, "\t"); strings.HasPrefix(entry, modeSub+" ") {
			paths = append(paths, path)
		}
	}
	return slices.Compact(paths), nil
}
