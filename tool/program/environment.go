package program

import (
	"slices"
	"strings"
)

// Marker is the variable by which a program can know that a tool runs it. It
// holds the tool's name.
const Marker = "JP_TOOL"

// Environment is what a program of the named tool gets of environ when it runs
// in dir: no variables of jp's own, no keys, none of those named secret, and
// none that would point git to another repository.
func Environment(environ, secret []string, dir, name string) []string {
	kept := slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		return strings.HasPrefix(upper, "JP_") || strings.HasPrefix(upper, "GIT_") ||
			strings.HasSuffix(upper, "_API_KEY") || slices.Contains(secret, name)
	})
	return append(kept, "PWD="+dir, Marker+"="+name)
}
