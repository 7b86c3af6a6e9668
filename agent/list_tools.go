package agent

import (
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/tool"
)

// A ListedTool is one that a request may have.
type ListedTool struct {
	Name  string
	About string // its first sentence
	On    bool   // the request has it
	Reads bool   // it only reads
}

// ListTools lists the tools by name, as far as jp knows them without starting anything.
func ListTools(r *repo.Repo, o Request) ([]ListedTool, error) {
	if r.At.TopLevel == "" {
		return nil, nil
	}
	registry, _, err := judgedTools(r, r.Env, configuredServers(r), nil, nil)
	if err != nil {
		return nil, err
	}
	o.Tools.Enable, o.Tools.Disable = toolset.SpelledOut(o.Tools.Enable), toolset.SpelledOut(o.Tools.Disable)
	on := enabledTools(registry, r.Config.Tools, o, false)
	var list []ListedTool
	for _, def := range registry.Definitions() {
		about, _, _ := strings.Cut(def.Description, ". ")
		list = append(list, ListedTool{Name: def.Name, About: strings.TrimSuffix(about, "."), On: slices.Contains(on, def.Name), Reads: def.Effect == tool.Reads})
	}
	slices.SortFunc(list, func(a, b ListedTool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
