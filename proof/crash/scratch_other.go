//go:build !linux

package main

// unmountBelow has no mounts to remove: tests that mount run on Linux only.
func unmountBelow(string) error { return nil }
