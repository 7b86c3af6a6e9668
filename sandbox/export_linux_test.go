package sandbox

import (
	"os"

	"jp/sandbox/secondstage"
)

// WithoutStarter makes programs start by the second stage, as on other machines, until it is undone.
func WithoutStarter() (undo func()) {
	before := starterFile
	starterFile = func(*secondstage.ChildSpec, string) *os.File { return nil }
	return func() { starterFile = before }
}

func SetOwnLoopback(has bool) (undo func()) {
	before := ownLoopback
	ownLoopback = func() bool { return has }
	return func() { ownLoopback = before }
}
