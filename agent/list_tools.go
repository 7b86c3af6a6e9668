package agent

import (
	"maps"
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
	Reads bool   // it changes nothing
}

// ListTools lists the tools by name, as far as jp knows them without starting anything.
func ListTools(r *repo.Repo, e *repo.Host, o Request) ([]ListedTool, error) {
	if r.TopLevel == "" {
		return nil, nil
	}
	servers := &toolset.Servers{}
	for _, name := range slices.Sorted(maps.Keys(r.Config.MCP)) {
		servers.All = append(servers.All, toolset.NewServer(r, e, name))
	}
	registry, _, err := judgedTools(r, e, servers, nil, nil)
	if err != nil {
		return nil, err
	}
	o.Tools, o.WithoutTools = toolset.SpelledOut(o.Tools), toolset.SpelledOut(o.WithoutTools)
	on := enabledTools(registry, r.Config.Tools, o, false)
	var list []ListedTool
	for _, def := range registry.Definitions() {
		about, _, _ := strings.Cut(def.Description, ". ")
		list = append(list, ListedTool{Name: def.Name, About: strings.TrimSuffix(about, "."), On: slices.Contains(on, def.Name), Reads: def.Effect == tool.Reads})
	}
	slices.SortFunc(list, func(a, b ListedTool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
