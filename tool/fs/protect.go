package fs

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// foldName maps all spellings that some file system takes for one name to one string: upper and lower case,
// marks and invisible characters, dots and spaces at the end, a stream after a colon.
func foldName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		switch {
		case r == 'İ' || r == 'ı':
			return 'i'
		case unicode.In(r, unicode.Mn, unicode.Cf):
			return -1
		}
		return smallest(r)
	}, name)
	return strings.TrimRight(name, " .")
}

// smallest is one rune for all that differ from r in case only.
func smallest(r rune) rune {
	least := unicode.ToLower(r)
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if low := unicode.ToLower(other); low < least {
			least = low
		}
	}
	return least
}

// Folded is a path with each element as [foldName] has it.
func Folded(path string) []string {
	elements := strings.Split(path, "/")
	for i, element := range elements {
		elements[i] = foldName(element)
	}
	return elements
}

// isShort recognizes the short alias that Windows file systems give to a name
// with a leading dot: GIT~1.
func isShort(folded, stem string) bool {
	digit, ok := strings.CutPrefix(folded, stem+"~")
	return ok && len(digit) == 1 && digit >= "1" && digit <= "9"
}

// reserved reports whether a name is closed to tools: the folder or file of a repository always, jp's folder
// for writing.
func reserved(name string, write bool) bool {
	folded := foldName(name)
	if folded == ".git" || isShort(folded, "git") {
		return true
	}
	return write && (folded == ".jp" || isShort(folded, "jp"))
}

// aliases reports whether info, found in dir, is the same file or folder as a reserved name there. It catches
// spellings that only the file system knows.
func aliases(dir *os.Root, info os.FileInfo, write bool) bool {
	names := []string{".git"}
	if write {
		names = append(names, ".jp")
	}
	for _, name := range names {
		if known, err := dir.Lstat(name); err == nil && os.SameFile(known, info) {
			return true
		}
	}
	return false
}

// A protectedPath is a file or a folder that is closed to tools, even before it exists.
type protectedPath struct {
	path   string
	parent string // the nearest folder above path that exists
	next   string // the element of path below parent, folded
}

// guard resolves the paths that lie in root. The others are out of reach anyway.
func guard(root string, paths []string) []protectedPath {
	var all []protectedPath
	for _, path := range paths {
		parent, next := filepath.Dir(path), filepath.Base(path)
		for parent != filepath.Dir(parent) {
			if _, err := os.Stat(parent); err == nil {
				break
			}
			parent, next = filepath.Dir(parent), filepath.Base(parent)
		}
		real, err := filepath.EvalSymlinks(parent)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			all = append(all, protectedPath{path: path, parent: real, next: foldName(next)})
		}
	}
	return all
}

// covers reports whether an element of a path, called name in dir, is guarded. info is nil if there is no
// such file.
func (g protectedPath) covers(dir *os.Root, name string, info os.FileInfo) bool {
	if known, err := os.Stat(g.path); err == nil && info != nil && os.SameFile(known, info) {
		return true
	}
	if foldName(name) != g.next {
		return false
	}
	known, err := os.Stat(g.parent)
	if err != nil {
		return false
	}
	held, err := dir.Stat(".")
	return err == nil && os.SameFile(known, held)
}
