package sandbox

import (
	"io/fs"
	"maps"
	"path"
	"slices"
)

// An Access is a kind of access to a file, or to a folder and all below it.
type Access int

// The kinds of access.
const (
	List   Access = iota + 1 // read the names in folders
	Read                     // read and execute
	Write                    // read, execute, change, make, move and remove
	Device                   // read, write and control
)

// A Grant is one thing that a program may do. All else is forbidden.
type Grant struct {
	Path   string
	Access Access
}

// devices are the devices that every program may use. Terminals are excluded: a program that can open one
// can read the user's input there, and type.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
}

const (
	deviceFolder = "/dev"
	sharedMemory = "/dev/shm"
)

// Grants are a program's rights in a file system, whose root is tree. It can list names everywhere.
func (r Rules) Grants(tree fs.FS) []Grant {
	s := newSurvey(tree, append(r.Hidden[:len(r.Hidden):len(r.Hidden)], r.Private...))
	if len(r.OnlyRead) > 0 {
		grants := []Grant{{Path: "/dev/null", Access: Device}}
		for _, name := range append(s.writable(r.OnlyRead), "/dev/zero", "/dev/random", "/dev/urandom") {
			grants = append(grants, s.below(name, Read)...)
		}
		return grants
	}
	grants := append([]Grant{{Path: "/", Access: List}}, s.below("/", Read)...)
	for _, name := range devices() {
		grants = append(grants, Grant{Path: name, Access: Device})
	}
	shared := s.follow(sharedMemory).path
	for _, name := range s.writable(append([]string{sharedMemory}, r.Writable...)) {
		access := Write
		if within(name, deviceFolder) && name != shared {
			access = Device
		}
		grants = append(grants, s.below(name, access)...)
	}
	return grants
}

// CanMake reports whether a program can make files directly in a folder. It cannot if the folder leads to a
// hidden place, whatever is granted around it.
func (r Rules) CanMake(tree fs.FS, folder string) bool {
	s := newSurvey(tree, r.Hidden)
	p := s.follow(folder)
	if !p.exists || s.ways[p.path] || s.isHidden(p.path) {
		return false
	}
	granted := s.writable(append([]string{sharedMemory}, r.Writable...))
	return slices.ContainsFunc(granted, func(name string) bool { return within(p.path, name) })
}

// A fsInfo caches facts about a file system.
type fsInfo struct {
	tree   fs.FS
	hidden []string        // places that are never granted
	closed map[string]bool // those, and the folder of devices, which is granted by name
	ways   map[string]bool // folders that lead to something closed
	real   map[string]bool // paths that exist and are no links; nil: not remembered
}

func newSurvey(tree fs.FS, hidden []string) *fsInfo {
	s := &fsInfo{tree: tree, closed: map[string]bool{}, ways: map[string]bool{"/": true}, real: map[string]bool{}}
	for _, name := range hidden {
		s.hidden = append(s.hidden, s.follow(name).path)
	}
	for _, name := range append([]string{s.follow(deviceFolder).path}, s.hidden...) {
		s.closed[name] = true
		for way := path.Dir(name); way != "/"; way = path.Dir(way) {
			s.ways[way] = true
		}
	}
	return s
}

func (s *fsInfo) isHidden(name string) bool {
	return slices.ContainsFunc(s.hidden, func(hidden string) bool { return within(name, hidden) })
}

// below grants a place: as a whole, or if it leads to a closed place, the entries beside the ways there. A
// link needs no grant, since its target has one.
func (s *fsInfo) below(name string, access Access) []Grant {
	if !s.ways[name] {
		return []Grant{{Path: name, Access: access}}
	}
	var grants []Grant
	for _, way := range slices.Sorted(maps.Keys(s.ways)) {
		if !within(way, name) || s.isHidden(way) {
			continue
		}
		entries, _ := fs.ReadDir(s.tree, inTree(way)) // an unlistable one gets no grants
		for _, e := range entries {
			p := path.Join(way, e.Name())
			if !s.closed[p] && !s.ways[p] && e.Type()&fs.ModeSymlink == 0 {
				grants = append(grants, Grant{Path: p, Access: access})
			}
		}
	}
	return grants
}

// writable are those of the places that can be granted. A program that may write to a folder can put a link
// into it: so a place behind such a link is left out, and a place in a granted folder needs no grant of its
// own.
func (s *fsInfo) writable(names []string) []string {
	var places []resolvedPath
	for _, name := range names {
		if p := s.follow(name); p.exists && !s.isHidden(p.path) {
			places = append(places, p)
		}
	}
	var granted []string
	for _, p := range places {
		covered := func(other resolvedPath) bool { return other.path != p.path && within(p.path, other.path) }
		forged := func(other resolvedPath) bool {
			return slices.ContainsFunc(p.links, func(link string) bool { return within(link, other.path) })
		}
		if !slices.ContainsFunc(places, covered) && !slices.ContainsFunc(places, forged) && !slices.Contains(granted, p.path) {
			granted = append(granted, p.path)
		}
	}
	return granted
}
