package snapshot

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"jp/conversation"
	"jp/worktree"
)

// Mentioned are the files that a call of any tool names by the usual arguments, path and paths, as far as
// they can be files of the working tree. They are only evidence: the tool has not declared them.
func Mentioned(arguments json.RawMessage) []string {
	var named struct {
		Path  json.RawMessage `json:"path"`
		Paths json.RawMessage `json:"paths"`
	}
	if json.Unmarshal(arguments, &named) != nil {
		return nil
	}
	var one string
	var several []string
	if json.Unmarshal(named.Path, &one) == nil {
		several = append(several, one)
	}
	var more []string
	if json.Unmarshal(named.Paths, &more) == nil {
		several = append(several, more...)
	}
	return slices.DeleteFunc(several, func(p string) bool {
		return !filepath.IsLocal(p) || !worktree.IsPath(filepath.ToSlash(filepath.Clean(p))) || filepath.Clean(p) == "."
	})
}

func LeftOutPaths(all []conversation.SkippedPath) []string {
	var paths []string
	for _, l := range all {
		if l.Why != worktree.WhyGone {
			paths = append(paths, l.Path)
		}
	}
	return paths
}
