//go:build !linux

package main

import (
	"fmt"
	"runtime"
)

func adoptOrphans() error { return fmt.Errorf("%w: %s", errSystem, runtime.GOOS) }
