//go:build !amd64

package sandbox

import (
	"os"

	"jp/sandbox/secondstage"
)

// starterFile has no starter for this machine.
var starterFile = func(*secondstage.ChildSpec, string) *os.File { return nil }
