//go:build !linux

package sandbox

import (
	"fmt"
	"runtime"
)

// Supported says that this system enforces nothing.
func Supported() Support {
	return Support{Reason: "jp does not know how on " + runtime.GOOS}
}

// OwnLoopback reports false.
func OwnLoopback() bool { return false }

// Prepare fails: no program can be confined here.
func Prepare(Rules, []string, string) (Start, error) {
	return Start{}, fmt.Errorf("%w: %s", ErrUnsupported, Supported().Reason)
}

// RunChild reports that this process is not to become a program.
func RunChild([]string) (code int, asked bool) { return 0, false }

// Confined reports false: nothing is confined here.
func Confined(string) bool { return false }
