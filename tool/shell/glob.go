package shell

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// mostExpanded is the most names that a pattern may match.
const mostExpanded = 1000

// expanded are the names that a shell in a folder puts in the place of a pattern whose quoted characters have
// a backslash. Without a match that is the text. A name that begins with - gets ./ in front, so that it
// cannot be an option. ok is false if jp reads the pattern in another way than the shell, or if it leaves the
// folder.
func expanded(dir, pattern, text string) (names []string, ok bool) {
	below, dot := strings.CutPrefix(pattern, "./")
	below, folders := strings.CutSuffix(below, "/")
	if below == "" || strings.Contains(pattern, "[!") || strings.Contains(pattern, "[^") || strings.Contains(pattern, "[[") || !fs.ValidPath(below) {
		return nil, false
	}
	parts := strings.Split(below, "/")
	root := os.DirFS(dir)
	found, err := fs.Glob(root, below)
	if err != nil {
		return nil, false
	}
	for _, name := range found {
		if !shown(parts, strings.Split(name, "/")) {
			continue
		}
		if folders {
			if info, err := fs.Stat(root, name); err != nil || !info.IsDir() {
				continue
			}
			name += "/"
		}
		if dot || strings.HasPrefix(name, "-") {
			name = "./" + name
		}
		if names = append(names, name); len(names) > mostExpanded {
			return nil, false
		}
	}
	if len(names) == 0 {
		return []string{text}, true
	}
	return names, true
}

// shown reports whether the parts of a name match those of a pattern as in a shell: a hidden name only
// matches a pattern with the dot.
func shown(pattern, name []string) bool {
	for i, part := range name {
		if matched, err := path.Match(pattern[i], part); err != nil || !matched || part[0] == '.' && pattern[i][0] != '.' {
			return false
		}
	}
	return true
}
