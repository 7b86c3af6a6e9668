package toolset

import (
	"slices"

	"jp/agent/repo"
	"jp/config"
	"jp/tool"
	"jp/tool/delegate"
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

// tablesOf are the tables of the configuration that say something of a tool;
// what a later one says holds.
func tablesOf(name string) []string {
	if slices.Contains(recall.Names(), name) {
		return []string{recall.Group, name}
	}
	return []string{name}
}

// Enabled reports whether the configuration has a tool on. Recall, and what only
// delegates need, is off unless it is switched on, everything else on unless it
// is switched off.
func Enabled(name string, tables map[string]config.Tool) bool {
	of := tablesOf(name)
	on := of[0] != recall.Group && name != delegate.StateName
	for _, table := range of {
		if enable := tables[table].Enable; enable != nil {
			on = *enable
		}
	}
	return on
}

// IsRecall reports whether a tool is one of those that read conversations.
var IsRecall = recall.Is

// RecallTools are those alone.
func RecallTools(r *repo.Repo) (*tool.Registry, error) {
	return tool.NewRegistry(recall.Tools(r.Store)...)
}
