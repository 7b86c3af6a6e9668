//go:build unix && !linux

package odb

// OS is the operating system's file system.
func OS() FS { return rootFS{} }
