//go:build !windows

// Package wsl makes a build for Windows fail with one line that names the way: jp uses ptys,
// file locks and process groups of Unix, and runs on Windows through WSL.
package wsl
