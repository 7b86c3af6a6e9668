// Package jpbuild builds jp for those who run it from outside.
package jpbuild

import (
	"context"
	"fmt"

	"jp/internal/proof"
)

// Build builds jp at a path, as `make build` does: without cgo. Environ is the
// environment of the Go command, which must know where Go keeps what it has built.
func Build(ctx context.Context, path string, environ []string) error {
	cmd := proof.GoCommand(ctx, "build", "-o", path, "jp/cmd/jp")
	cmd.Env = append(environ[:len(environ):len(environ)], "CGO_ENABLED=0")
	if err := proof.Build(ctx, cmd); err != nil {
		return fmt.Errorf("build jp: %w", err)
	}
	return nil
}
