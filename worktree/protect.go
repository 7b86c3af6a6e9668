package worktree

import (
	"os"
	"strings"
	"unicode"
)

// reserved reports whether a name belongs to git or to jp, in any spelling that some file system takes for
// it: other case, invisible characters, dots and spaces at the end, a stream behind a colon, a short alias.
func reserved(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Cf) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	name = strings.TrimRight(name, " .")
	for _, own := range []string{"git", "jp"} {
		short, alias := strings.CutPrefix(name, own+"~")
		if name == "."+own || alias && len(short) == 1 && short[0] >= '1' && short[0] <= '9' {
			return true
		}
	}
	return false
}

// protectedFiles are files and folders that are never written. jp finds them by their identity, in spite of
// other spellings of a path to them.
type protectedFiles []os.FileInfo

func guard(paths []string) protectedFiles {
	var g protectedFiles
	for _, path := range paths {
		if info, err := os.Stat(path); path != "" && err == nil {
			g = append(g, info)
		}
	}
	return g
}

func (g protectedFiles) has(info os.FileInfo) bool {
	for _, known := range g {
		if os.SameFile(known, info) {
			return true
		}
	}
	return false
}
