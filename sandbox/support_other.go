//go:build !linux

package sandbox

import (
	"fmt"
	"runtime"
)

// Supported reports that this system enforces no rules.
func Supported() Support {
	return Support{Reason: "jp does not know how on " + runtime.GOOS}
}

// OwnLoopback reports false.
func OwnLoopback() bool { return false }

// Prepare fails: this system cannot confine programs.
func Prepare(Rules, []string, string) (Start, error) {
	return Start{}, fmt.Errorf("%w: %s", ErrUnsupported, Supported().Reason)
}

// RunChild reports that the process goes on as jp.
func RunChild([]string) (code int, asked bool) { return 0, false }

// Confined reports false, since this system confines no process.
func Confined(string) bool { return false }
