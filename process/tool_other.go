//go:build !linux

package process

// FromTool reports nothing: here it cannot be told what started a process.
func (l Locks) FromTool(int, string) bool { return false }
