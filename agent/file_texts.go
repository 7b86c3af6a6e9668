package agent

import (
	"bytes"
	"context"
	"unicode/utf8"

	"jp/agent/repo"
	"jp/conversation"
)

// Bounds of the changed files that a front end gets.
const (
	mostTexts    = 20        // files
	longestShown = 256 << 10 // bytes of one text
)

// A FileText is a file before and after a change. A text is nil if the file is missing.
type FileText struct {
	Path          string
	Before, After *string
}

// FileTexts are the recorded texts of files that a tool changed. It leaves out binary and very long ones, and
// those that a partial clone lacks.
func FileTexts(ctx context.Context, r *repo.Repo, changes []conversation.FileChange) (all []FileText) {
	text := func(oid string) (*string, bool) {
		if oid == "" {
			return nil, true
		}
		data, err := r.Trees.Blob(ctx, oid)
		if err != nil || len(data) > longestShown || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return nil, false
		}
		s := string(data)
		return &s, true
	}
	for _, c := range changes[:min(len(changes), mostTexts)] {
		before, ok := text(c.Before)
		if !ok {
			continue
		}
		if after, ok := text(c.After); ok {
			all = append(all, FileText{Path: c.Path, Before: before, After: after})
		}
	}
	return all
}
