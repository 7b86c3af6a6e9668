package instructions

import (
	"path"
	"slices"
	"strings"

	"jp/internal/lazy"
)

var (
	codeOf   = lazy.Regexp("(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\\z)|`[^`\n]*`")
	importOf = lazy.Regexp(`(?m)(?:^|[ \t(])@([^\s@]+)`)
)

// Imports are the paths that a file of another agent imports with @PATH, each once. In code, and in files of
// the usual names, @ is text.
func Imports(t Tree, f File) (paths []string) {
	if f.User || slices.Contains(Names, path.Base(f.Path)) {
		return nil
	}
	for _, found := range importOf().FindAllStringSubmatch(codeOf().ReplaceAllString(f.Text, ""), -1) {
		word := strings.TrimRight(found[1], ".,;:!?)'\"*_")
		if word != "" && !slices.Contains(paths, word) && imported(t, f, word) {
			paths = append(paths, word)
		}
	}
	return paths
}

// imported tells the path of a file from the name of a person or of a package.
func imported(t Tree, f File, word string) bool {
	if strings.HasPrefix(word, "~/") || strings.HasPrefix(word, "/") {
		return path.Ext(word) != ""
	}
	_, mode, err := Resolve(t, path.Join(path.Dir(f.Path), word))
	return err == nil && mode.IsRegular() || strings.EqualFold(path.Ext(word), ".md")
}
