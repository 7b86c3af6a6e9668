package worktree

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A changeTime is a moment as a file system counts it.
type changeTime struct{ Sec, Nsec int64 }

func (t changeTime) before(o changeTime) bool {
	return t.Sec < o.Sec || t.Sec == o.Sec && t.Nsec < o.Nsec
}

// A folderStamp is the state of a file or folder: it differs after every change to it.
type folderStamp struct {
	Dev, Ino       uint64
	Size           int64
	Mtime, Changed changeTime
}

func folderStampOf(st *unix.Stat_t) folderStamp {
	return folderStamp{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: st.Size,
		Mtime: changeTime{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)}, Changed: changedTime(st),
	}
}

// changedTime is the time of the last change to a file. Programs cannot set it.
func changedTime(st *unix.Stat_t) changeTime {
	return changeTime{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)}
}

// A listedFolder is the known state of one that git looks into.
type listedFolder struct {
	path  string // "" for the top level
	stamp folderStamp
	// settled says that a later change gives the folder another stamp. One that changed in
	// the same tick of the clock in which it was read may change again unseen.
	settled bool
	names   []string    // of untracked files, sorted
	ignored []string    // of other files that are missing in the index, sorted; ignored by git if the folder is settled
	closed  []string    // of folders that git skips, sorted
	special []string    // of pipes, sockets and devices that are missing in the index
	rules   folderStamp // of its .gitignore; zero if absent
	empty   bool
}

// An untrackedListing is the untracked files at one moment. It is immutable.
type untrackedListing struct {
	folders []*listedFolder // sorted by path
	byPath  map[string]*listedFolder
	repos   []string // whole folders, which are other repositories, sorted; each ends in a slash
	sources ruleSources
	kept    bool // later listings can be derived from it
	walked  bool // the folders were read: the ignored files are known
}

// listingOf is a listing of git's paths alone.
func listingOf(paths []string) *untrackedListing {
	l := &untrackedListing{byPath: map[string]*listedFolder{}}
	var last *listedFolder
	for _, p := range paths {
		if strings.HasSuffix(p, "/") {
			l.repos = append(l.repos, p)
			continue
		}
		dir, name := splitPath(p)
		if last == nil || last.path != dir {
			last = l.folder(dir)
		}
		last.names = append(last.names, name)
	}
	l.arrange()
	return l
}

// folder is the folder of a path. It makes a missing one.
func (l *untrackedListing) folder(dir string) *listedFolder {
	f := l.byPath[dir]
	if f == nil {
		f = &listedFolder{path: dir}
		l.byPath[dir] = f
	}
	return f
}

// arrange sorts all unsorted parts.
func (l *untrackedListing) arrange() {
	l.folders = make([]*listedFolder, 0, len(l.byPath))
	for _, f := range l.byPath {
		l.folders = append(l.folders, f)
		for _, names := range [][]string{f.names, f.ignored, f.closed, f.special} {
			if !slices.IsSorted(names) {
				slices.Sort(names)
			}
		}
	}
	slices.SortFunc(l.folders, func(a, b *listedFolder) int { return strings.Compare(a.path, b.path) })
	slices.Sort(l.repos)
}

// splitPath parts a path into its folder, "" for the top level, and its name.
func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// joinPath is the path of a name in a folder.
func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func hasName(names []string, name string) bool {
	_, found := slices.BinarySearch(names, name)
	return found
}

// Has reports whether there was such an untracked file, or such a repository if the path ends in a slash.
func (l *untrackedListing) Has(path string) bool {
	if l == nil {
		return false
	}
	if strings.HasSuffix(path, "/") {
		return hasName(l.repos, path)
	}
	dir, name := splitPath(path)
	f := l.byPath[dir]
	return f != nil && hasName(f.names, name)
}

// paths are all of them, sorted.
func (l *untrackedListing) paths() []string {
	paths := slices.Clone(l.repos)
	for _, f := range l.folders {
		for _, name := range f.names {
			paths = append(paths, joinPath(f.path, name))
		}
	}
	slices.Sort(paths)
	return paths
}

// text has all names that a listing is made of, each on a line.
func (l *untrackedListing) text() string {
	var b strings.Builder
	for _, f := range l.folders {
		for _, names := range [][]string{{f.path}, f.names, f.ignored, f.closed, f.special} {
			for _, name := range names {
				b.WriteString(name + "\n")
			}
		}
	}
	return b.String() + strings.Join(l.repos, "\n")
}

// ignored are the files that git ignores outside of ignored folders, with those that it has not judged yet,
// and pipes, sockets and devices. Below are the folders that git skips, each with a slash at its end, and
// empty are the folders without entries.
func (l *untrackedListing) ignored() (files, below, empty []string) {
	if l == nil {
		return nil, nil, nil
	}
	for _, f := range l.folders {
		for _, names := range [][]string{f.ignored, f.special} {
			for _, name := range names {
				files = append(files, joinPath(f.path, name))
			}
		}
		for _, name := range f.closed {
			below = append(below, joinPath(f.path, name)+"/")
		}
		if f.empty && f.path != "" {
			empty = append(empty, f.path)
		}
	}
	return files, below, empty
}

// repositories are the whole folders among them, each with a slash at its end.
func (l *untrackedListing) repositories() []string {
	if l == nil {
		return nil
	}
	return l.repos
}

// keeps reports whether both listings have a file, and its folder has the same entries in both.
func (l *untrackedListing) keeps(earlier *untrackedListing, path string) bool {
	dir, name := splitPath(path)
	f := l.at(dir)
	return f != nil && f == earlier.at(dir) && hasName(f.names, name)
}

// lacks are the paths of l that are missing in another listing.
func (l *untrackedListing) lacks(other *untrackedListing) (paths []string) {
	if l == nil || l == other {
		return nil
	}
	for _, p := range l.repos {
		if !other.Has(p) {
			paths = append(paths, p)
		}
	}
	for _, f := range l.folders {
		there := other.at(f.path)
		if f == there {
			continue
		}
		for _, name := range f.names {
			if there == nil || !hasName(there.names, name) {
				paths = append(paths, joinPath(f.path, name))
			}
		}
	}
	return paths
}

func (l *untrackedListing) at(dir string) *listedFolder {
	if l == nil {
		return nil
	}
	return l.byPath[dir]
}

// crowded is the folder of the top level with most files below it, if there are at least so
// many, or the one inside of it that has nearly all of them.
func (l *untrackedListing) crowded(least int) (dir string, files int, ok bool) {
	if l == nil {
		return "", 0, false
	}
	below := map[string]int{}
	for _, f := range l.folders {
		for dir := f.path; dir != "" && len(f.names) > 0; dir, _ = splitPath(dir) {
			below[dir] += len(f.names)
		}
	}
	for {
		best := ""
		for d, n := range below {
			parent, _ := splitPath(d)
			larger := best == "" || n > below[best] || n == below[best] && d < best
			if parent == dir && n >= least && 10*n >= 9*files && larger {
				best = d
			}
		}
		if best == "" {
			return dir, files, ok
		}
		dir, files, ok = best, below[best], true
	}
}
