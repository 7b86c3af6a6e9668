//go:build !linux || !(amd64 || arm64)

package crashtest

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

const traceOptions, childOptions = 0, 0

func run(context.Context, *exec.Cmd, int, func(Point) Act) (Result, error) {
	return Result{}, fmt.Errorf("%w: %s/%s", ErrUnsupported, runtime.GOOS, runtime.GOARCH)
}
