//go:build !linux

package main

import (
	"context"
	"fmt"
	"os/exec"
)

// used is known on Linux only.
func used(context.Context, *exec.Cmd) (usage, error) {
	return usage{}, fmt.Errorf("%w: Linux, to see the peak of memory", errAbsent)
}
