// Package untracked lists the untracked files of a working tree without the ignored ones, and reads again
// only the folders that changed since it last looked.
//
// git decides which files are untracked. The package keeps its answer together with the state of each
// folder, of each file of rules and of the index. It asks git about new names. If a state says too little,
// git lists everything once more: if a file of rules or the set of tracked paths changed, if the times of
// the file system are unreliable, and if a repository lies inside of another in a way that only git can
// judge.
//
// It leaves the content of files unread, and writes only its copy of the list.
package untracked

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A Time is a moment as a file system counts it.
type Time struct{ Sec, Nsec int64 }

func (t Time) before(o Time) bool { return t.Sec < o.Sec || t.Sec == o.Sec && t.Nsec < o.Nsec }

// A stamp is the state of a file or folder: it differs after every change to it.
type stamp struct {
	Dev, Ino       uint64
	Size           int64
	Mtime, Changed Time
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: st.Size,
		Mtime: Time{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)}, Changed: changed(st),
	}
}

// changed is the time of the last change to a file. Programs cannot set it.
func changed(st *unix.Stat_t) Time { return Time{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)} }

// A folder is the known state of one that git looks into.
type folder struct {
	path  string // "" for the top level
	stamp stamp
	// settled says that a later change gives the folder another stamp. One that changed in
	// the same tick of the clock in which it was read may change again unseen.
	settled bool
	names   []string // of untracked files, sorted
	ignored []string // of other files that are missing in the index, sorted; ignored by git if the folder is settled
	closed  []string // of folders that git skips, sorted
	special []string // of pipes, sockets and devices that are missing in the index
	rules   stamp    // of its .gitignore; zero if absent
	empty   bool
}

// A Listing is the untracked files at one moment. It is immutable.
type Listing struct {
	folders []*folder // sorted by path
	byPath  map[string]*folder
	repos   []string // whole folders, which are other repositories, sorted; each ends in a slash
	sources sources
	kept    bool // later listings can be derived from it
	walked  bool // the folders were read: the ignored files are known
}

// Of is a listing of git's paths alone.
func Of(paths []string) *Listing {
	l := &Listing{byPath: map[string]*folder{}}
	var last *folder
	for _, p := range paths {
		if strings.HasSuffix(p, "/") {
			l.repos = append(l.repos, p)
			continue
		}
		dir, name := split(p)
		if last == nil || last.path != dir {
			last = l.folder(dir)
		}
		last.names = append(last.names, name)
	}
	l.arrange()
	return l
}

// folder is the folder of a path. It makes a missing one.
func (l *Listing) folder(dir string) *folder {
	f := l.byPath[dir]
	if f == nil {
		f = &folder{path: dir}
		l.byPath[dir] = f
	}
	return f
}

// arrange sorts all unsorted parts.
func (l *Listing) arrange() {
	l.folders = make([]*folder, 0, len(l.byPath))
	for _, f := range l.byPath {
		l.folders = append(l.folders, f)
		for _, names := range [][]string{f.names, f.ignored, f.closed, f.special} {
			if !slices.IsSorted(names) {
				slices.Sort(names)
			}
		}
	}
	slices.SortFunc(l.folders, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	slices.Sort(l.repos)
}

// split parts a path into its folder, "" for the top level, and its name.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// join is the path of a name in a folder.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func has(names []string, name string) bool {
	_, found := slices.BinarySearch(names, name)
	return found
}

// Has reports whether there was such an untracked file, or such a repository if the path ends in a slash.
func (l *Listing) Has(path string) bool {
	if l == nil {
		return false
	}
	if strings.HasSuffix(path, "/") {
		return has(l.repos, path)
	}
	dir, name := split(path)
	f := l.byPath[dir]
	return f != nil && has(f.names, name)
}

// Paths are all of them, sorted.
func (l *Listing) Paths() []string {
	paths := slices.Clone(l.repos)
	for _, f := range l.folders {
		for _, name := range f.names {
			paths = append(paths, join(f.path, name))
		}
	}
	slices.Sort(paths)
	return paths
}

// text has all names that a listing is made of, each on a line.
func (l *Listing) text() string {
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

// Ignored are the files that git ignores outside of ignored folders, with those that it has not judged yet,
// and pipes, sockets and devices. Below are the folders that git skips, each with a slash at its end, and
// empty are the folders without entries.
func (l *Listing) Ignored() (files, below, empty []string) {
	if l == nil {
		return nil, nil, nil
	}
	for _, f := range l.folders {
		for _, names := range [][]string{f.ignored, f.special} {
			for _, name := range names {
				files = append(files, join(f.path, name))
			}
		}
		for _, name := range f.closed {
			below = append(below, join(f.path, name)+"/")
		}
		if f.empty && f.path != "" {
			empty = append(empty, f.path)
		}
	}
	return files, below, empty
}

// Repositories are the whole folders among them, each with a slash at its end.
func (l *Listing) Repositories() []string {
	if l == nil {
		return nil
	}
	return l.repos
}

// Keeps reports whether both listings have a file, and its folder has the same entries in both.
func (l *Listing) Keeps(earlier *Listing, path string) bool {
	dir, name := split(path)
	f := l.at(dir)
	return f != nil && f == earlier.at(dir) && has(f.names, name)
}

// Lacks are the paths of l that are missing in another listing.
func (l *Listing) Lacks(other *Listing) (paths []string) {
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
			if there == nil || !has(there.names, name) {
				paths = append(paths, join(f.path, name))
			}
		}
	}
	return paths
}

func (l *Listing) at(dir string) *folder {
	if l == nil {
		return nil
	}
	return l.byPath[dir]
}

// Crowded is the folder of the top level with most files below it, if there are at least so
// many, or the one inside of it that has nearly all of them.
func (l *Listing) Crowded(least int) (dir string, files int, ok bool) {
	if l == nil {
		return "", 0, false
	}
	below := map[string]int{}
	for _, f := range l.folders {
		for dir := f.path; dir != "" && len(f.names) > 0; dir, _ = split(dir) {
			below[dir] += len(f.names)
		}
	}
	for {
		best := ""
		for d, n := range below {
			parent, _ := split(d)
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
