//go:build !linux

package sandbox

import (
	"fmt"
	"os"
	"runtime"
)

// Supported says that this system enforces nothing.
func Supported() Support {
	return Support{Reason: "jp does not know how on " + runtime.GOOS}
}

// Start fails: no program can be confined here.
func Start(Rules, []string, string) ([]string, *os.File, error) {
	return nil, nil, fmt.Errorf("%w: %s", ErrUnsupported, Supported().Reason)
}

// RunChild reports that this process is not to become a program.
func RunChild([]string) (code int, asked bool) { return 0, false }

// Confined reports false: nothing is confined here.
func Confined(string) bool { return false }
