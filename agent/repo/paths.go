package repo

import (
	"jp/conversation"
	"jp/internal/safetext"
)

// PlainPath is a recorded path as the file system has it.
func PlainPath(quoted string) string {
	path, err := conversation.UnquotePath(quoted)
	if err != nil {
		return quoted
	}
	return path
}

// ShownPath shows a recorded path so that a copy of it works in a shell, even if some characters are
// invisible.
func ShownPath(quoted string) string { return safetext.Show(PlainPath(quoted)) }

// A FileResult is a [conversation.RestoredFile] for programs.
type FileResult struct {
	Path   string `json:"path"`
	Done   bool   `json:"done"`
	Reason string `json:"reason"`
}
