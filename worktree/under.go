package worktree

import (
	"slices"
	"strings"
)

// Under reports whether a path is one of those given, or in one of them. "" and
// "." hold everything.
func Under(path string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		return p == "" || p == "." || path == p || strings.HasPrefix(path, p+"/")
	})
}
