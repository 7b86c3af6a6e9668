package shell

import (
	"slices"
	"strings"
)

// scrub drops the variables that programs of the model must not get: jp's own,
// keys, and those that would point git to another repository.
func scrub(environ, secret []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		return strings.HasPrefix(upper, "JP_") || strings.HasPrefix(upper, "GIT_") ||
			strings.HasSuffix(upper, "_API_KEY") || slices.Contains(secret, name)
	})
}
