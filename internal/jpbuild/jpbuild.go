// Package jpbuild builds jp for those who run it from outside.
package jpbuild

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
)

// Build builds jp at a path, as `make build` does: without cgo. Environ is the
// environment of the Go command, which must know where Go keeps what it has built.
func Build(ctx context.Context, path string, environ []string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "jp/cmd/jp")
	cmd.Env = append(environ[:len(environ):len(environ)], "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build jp: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
