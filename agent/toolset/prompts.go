package toolset

import (
	"maps"
	"slices"

	"jp/agent/repo"
	"jp/config"
	"jp/tool/mcp"
)

// A PromptCommand is a prompt of an MCP server as a command for the user.
type PromptCommand struct {
	Server string
	Prompt mcp.PromptInfo
}

// Name is the command's, without a slash.
func (p PromptCommand) Name() string { return p.Server + ":" + p.Prompt.Name }

// Prompts are commands for the prompts that servers listed at their last run, without starting them. A server
// counts if the user approved it as it is.
func Prompts(r *repo.Repo, e *repo.Host) []PromptCommand {
	if r.At.TopLevel == "" {
		return nil
	}
	var all []PromptCommand
	for _, name := range slices.Sorted(maps.Keys(r.Config.MCP)) {
		s := NewServer(r, e, name)
		prompts := s.Prompts()
		if len(prompts) == 0 || !ApprovedWhole(s.State()) {
			continue
		}
		for _, p := range prompts {
			all = append(all, PromptCommand{Server: name, Prompt: p})
		}
	}
	return all
}

// AddServers adds servers to those of the configuration, which win.
func AddServers(r *repo.Repo, more map[string]config.MCP) {
	if len(more) == 0 {
		return
	}
	all := maps.Clone(more)
	maps.Copy(all, r.Config.MCP)
	r.Config.MCP = all
}
