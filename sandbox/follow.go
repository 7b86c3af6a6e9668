package sandbox

import (
	"io/fs"
	"path"
	"strings"
)

// maxLinks is the number of links that one path may lead through.
const maxLinks = 40

// A resolvedPath is the target of a path after following all links.
type resolvedPath struct {
	path   string   // absolute
	links  []string // folders that hold a link that was followed
	exists bool
}

// follow resolves an absolute path. It takes missing parts by their names.
func follow(tree fs.FS, name string) resolvedPath { return (&fsInfo{tree: tree}).follow(name) }

// follow looks at each folder on the way once.
func (s *fsInfo) follow(name string) resolvedPath {
	at, rest := resolvedPath{path: "/", exists: true}, parts(name)
	for len(rest) > 0 {
		next := path.Join(at.path, rest[0])
		rest = rest[1:]
		if s.real[next] {
			at.path = next
			continue
		}
		info, err := fs.Lstat(s.tree, inTree(next))
		if err != nil {
			return resolvedPath{path: path.Join(append([]string{next}, rest...)...), links: at.links}
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if at.path = next; s.real != nil {
				s.real[next] = true
			}
			continue
		}
		target, err := fs.ReadLink(s.tree, inTree(next))
		if err != nil || len(at.links) == maxLinks {
			return resolvedPath{path: next, links: at.links}
		}
		at.links = append(at.links, at.path)
		if path.IsAbs(target) {
			at.path = "/"
		}
		rest = append(parts(target), rest...)
	}
	return at
}

// parts are the names that a path is made of.
func parts(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
}

// inTree is the name of an absolute path in a tree of the whole file system.
func inTree(name string) string {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

// within reports whether a path is a folder or below it.
func within(name, folder string) bool {
	return name == folder || folder == "/" || strings.HasPrefix(name, folder+"/")
}
