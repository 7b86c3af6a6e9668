package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Files are the files of the working tree and its git directories that a command line names, by name, with
// the SHA-256 of each. A name is relative to the working tree if it lies there.
type Files map[string]string

// Values in the place of a hash.
const (
	irregular  = "not an ordinary file"
	unreadable = "cannot be read"
)

// entries are the files that an interpreter starts in a folder that it is given.
var entries = []string{"package.json", "index.js", "index.mjs", "index.cjs", "__init__.py", "__main__.py", "pyproject.toml"}

// A FileChange is a file that changed since the user approved it.
type FileChange struct {
	Name string
	What string // "new", "changed" or "gone"
}

// changes are the files that differ from those before, by name.
func (f Files) changes(before Files) []FileChange {
	var all []FileChange
	for _, name := range slices.Sorted(maps.Keys(f)) {
		switch was, known := before[name]; {
		case !known:
			all = append(all, FileChange{name, "new"})
		case was != f[name]:
			all = append(all, FileChange{name, "changed"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, there := f[name]; !there {
			all = append(all, FileChange{name, "gone"})
		}
	}
	return all
}

// Files looks at the files that the command, its arguments and the values of its variables name, as they are
// now. Other files that a program loads are outside of the check.
func (a Approvals) Files(s Spec) Files {
	x := &naming{Approvals: a, folders: []string{a.Root}, files: Files{}}
	if a.Holds == nil || len(s.Command) == 0 {
		return x.files
	}
	if program, err := exec.LookPath(s.Command[0]); err == nil && filepath.IsAbs(program) {
		x.add(program)
	}
	words := slices.Clone(s.Command)
	for _, variable := range slices.Sorted(maps.Keys(s.Env)) {
		words = append(words, s.Env[variable])
	}
	// Any named folder may be the base of other names, those before it included.
	for range 2 {
		for _, word := range words {
			x.word(word)
		}
	}
	for i, word := range words[:len(words)-1] {
		if word == "-m" && slices.ContainsFunc(words[:i], func(w string) bool { return strings.HasPrefix(filepath.Base(w), "python") }) {
			x.module(words[i+1])
		}
	}
	return x.files
}

// A naming collects the files that words name.
type naming struct {
	Approvals
	folders []string // in which relative names may begin
	files   Files
}

// word takes a word, and the parts of it that may be names.
func (x *naming) word(word string) {
	names := append([]string{word}, strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=:,;@'\"()|&<> \t\n", r) })...)
	if strings.HasPrefix(word, "-") && len(word) > 2 {
		names = append(names, word[2:])
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		for _, folder := range slices.Clone(x.folders) {
			x.add(x.absolute(folder, strings.TrimPrefix(name, "file://")))
		}
	}
}

// module adds a module of Python. Python searches the working folder first.
func (x *naming) module(name string) {
	for _, folder := range slices.Clone(x.folders) {
		path := filepath.Join(folder, strings.ReplaceAll(name, ".", "/"))
		x.add(path + ".py")
		x.add(path)
	}
}

func (x *naming) absolute(folder, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(folder, name)
}

// add takes the file or folder at a path, if it is the repository's.
func (x *naming) add(path string) {
	info, err := os.Lstat(path)
	if err != nil || !x.Holds(path) {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); err != nil {
			return // a broken link starts nothing
		}
	}
	if !info.IsDir() {
		x.files[x.name(path)] = digest(path, info)
		return
	}
	if path == x.Root || slices.Contains(x.folders, path) || !filepath.IsLocal(x.name(path)) {
		return
	}
	x.folders = append(x.folders, path)
	for _, entry := range entries {
		x.add(filepath.Join(path, entry))
	}
}

func (x *naming) name(path string) string {
	if name, err := filepath.Rel(x.Root, path); err == nil && filepath.IsLocal(name) {
		return name
	}
	return path
}

// digest is the hash of a file, links followed.
func digest(path string, info fs.FileInfo) string {
	if !info.Mode().IsRegular() {
		return irregular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // another file may have taken its place
	if err != nil {
		return unreadable
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return irregular
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return unreadable
	}
	return hex.EncodeToString(h.Sum(nil))
}
