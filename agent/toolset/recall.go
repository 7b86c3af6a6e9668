package toolset

import (
	"jp/agent/repo"
	"jp/tool"
	"jp/tool/recall"
)

// SpelledOut puts the names of the recall tools in the place of the one that
// stands for them.
func SpelledOut(names []string) []string {
	var all []string
	for _, name := range names {
		if name == recall.Group {
			all = append(all, recall.Names()...)
			continue
		}
		all = append(all, name)
	}
	return all
}

// IsRecall reports whether a tool is one of those that read conversations.
var IsRecall = recall.Is

// RecallTools are those alone.
func RecallTools(r *repo.Repo) (*tool.Registry, error) {
	return tool.NewRegistry(recall.Tools(r.Store)...)
}
