//go:build !linux

package main

import (
	"context"
	"fmt"
	"os/exec"
)

// peak is known on Linux only.
func peak(context.Context, *exec.Cmd) (int64, error) {
	return 0, fmt.Errorf("%w: Linux, to see the peak of memory", errAbsent)
}
