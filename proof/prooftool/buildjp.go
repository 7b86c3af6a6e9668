package prooftool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// BuildJP builds jp at a path, as `make build` does: in jp's own module, without cgo. Environ is the
// environment of the Go command, which must know Go's build cache.
func BuildJP(ctx context.Context, path string, environ []string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	root, err := Root()
	if err != nil {
		return err
	}
	cmd := GoCommand(ctx, "build", "-o", path, "./cmd/jp")
	cmd.Dir = root
	cmd.Env = append(environ[:len(environ):len(environ)], "CGO_ENABLED=0")
	if err := Build(ctx, cmd); err != nil {
		return fmt.Errorf("build jp: %w", err)
	}
	return nil
}

// Root is the folder of jp's module: the current folder, or the nearest one above
// it that holds the module.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, "cmd", "jp", "main.go"))
		switch {
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		case dir == filepath.Dir(dir):
			return "", fmt.Errorf("%s is outside jp's source", start)
		}
	}
}
