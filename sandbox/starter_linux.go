//go:build !amd64

package sandbox

import (
	"os"

	"jp/sandbox/secondstage"
)

// starterFile returns nil: this machine has no starter.
var starterFile = func(*secondstage.ChildSpec, string) *os.File { return nil }
