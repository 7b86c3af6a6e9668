// Package lazy puts off work that a program would otherwise do at each start, even if it is not needed.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. It panics then if it is invalid.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
