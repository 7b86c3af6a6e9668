//go:build !linux || !(amd64 || arm64)

package crashtest

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

func run(context.Context, *exec.Cmd, func(Point) bool) (Result, error) {
	return Result{}, fmt.Errorf("%w: %s/%s", ErrUnsupported, runtime.GOOS, runtime.GOARCH)
}
