//go:build !linux

package main

import "syscall"

// settle flushes what was written, which shall not be flushed at the expense of
// what is measured next.
func (b *bench) settle(string) error {
	if !b.settles {
		return nil
	}
	return syscall.Sync()
}
