package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/tool"
)

// CheckModel fails if the next request could not ask a model, given by alias or as PROVIDER/NAME.
func CheckModel(ctx context.Context, r *repo.Repo, name string) error {
	if r.Wrong != nil {
		return nil // the turn reports the wrong settings
	}
	return models.Check(ctx, r, r.Config.ResolveModel(name))
}

// CheckTools fails if a tool of one of the names is missing, as far as jp knows without starting anything.
func CheckTools(r *repo.Repo, names ...string) error {
	if r.At.TopLevel == "" || r.Wrong != nil || len(names) == 0 {
		return nil
	}
	servers := configuredServers(r)
	registry, _, err := judgedTools(r, r.Env, servers, nil, nil)
	if err != nil {
		return err
	}
	for _, name := range toolset.SpelledOut(names) {
		if _, known := registry.Lookup(name); !known {
			return servers.Explain(name, noTool(registry, name))
		}
	}
	return nil
}

func noTool(registry *tool.Registry, name string) *problem.Error {
	f := problem.Usage("there is no tool %q.", name)
	if nearest := registry.Nearest(name); nearest != "" {
		f.Message += fmt.Sprintf(" Did you mean %s?", nearest)
	}
	return f
}

// configuredServers are the MCP servers of the configuration, without starting them.
func configuredServers(r *repo.Repo) *toolset.Servers {
	servers := &toolset.Servers{}
	for _, name := range slices.Sorted(maps.Keys(r.Config.MCP)) {
		servers.All = append(servers.All, toolset.NewServer(r, r.Env, name))
	}
	return servers
}
