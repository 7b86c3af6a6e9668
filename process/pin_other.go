//go:build !linux

package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// StartOf is always "" here: the system does not tell when a process began.
func StartOf(int) string { return "" }

// A pinned process does not exist here.
type pinned struct{}

// pin cannot show here that a process is the holder.
func pin(holder Holder, _ string) (*pinned, error) {
	return nil, fmt.Errorf("%w: this system does not tell which process it is; end it yourself (kill %d)", ErrNotHolder, holder.PID)
}

func (*pinned) signal(unix.Signal) error { return nil }

func (*pinned) close() {}
