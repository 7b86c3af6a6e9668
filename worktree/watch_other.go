//go:build !linux

package worktree

// A folderWatch would say which paths in some folders changed since it began.
type folderWatch struct{}

func (*folderWatch) begin(string, []string) {}

func (*folderWatch) since() (changed map[string]bool, ok bool) { return nil, false }
