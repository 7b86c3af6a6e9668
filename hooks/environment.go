package hooks

import (
	"slices"
	"strings"
)

// Marker is the variable by which a program can know that a hook runs it. It
// holds the point.
const Marker = "JP_HOOK"

// environment is the part of jp's environment that a hook gets: without jp's own variables, without keys, and
// without anything that would point git to another repository.
func environment(opts Options, p Point) []string {
	kept := slices.DeleteFunc(slices.Clone(opts.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		return strings.HasPrefix(upper, "JP_") || strings.HasPrefix(upper, "GIT_") ||
			strings.HasSuffix(upper, "_API_KEY") || slices.Contains(opts.Secret, name)
	})
	if opts.Dir != "" {
		kept = append(kept, "PWD="+opts.Dir)
	}
	return append(kept, Marker+"="+string(p))
}
