package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes processes in the background children of this one when their parents have ended: so
// each is known until it is waited for.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt processes in the background: %w", err)
	}
	return nil
}
