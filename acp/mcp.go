package acp

import (
	"maps"
	"regexp"
	"slices"

	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/config"
)

// serverName is how an MCP server may be called.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// servers are the MCP servers of the client that start: with --trust-client-mcp. One that the user's
// configuration has too, word for word, starts as that, if the user approved it.
func (s *session) servers(r *repo.Repo) map[string]config.MCP {
	start := map[string]config.MCP{}
	for _, given := range s.mcp {
		env := map[string]string{}
		for _, v := range given.Env {
			env[v.Name] = v.Value
		}
		wanted := config.MCP{Command: append([]string{given.Command}, given.Args...), Env: env}
		switch {
		case slices.ContainsFunc(slices.Collect(maps.Values(r.Config.MCP)), func(c config.MCP) bool { return sameServer(c, wanted) }):
		case given.Type != "" || given.Command == "":
			s.notice("warning", "jp does not start the MCP server "+given.Name+" of the editor: jp starts programs, and connects to no address that an editor names.")
		case !s.server.TrustMCP:
			s.notice("warning", "jp does not start the MCP server "+given.Name+" of the editor. Add it to your configuration as [mcp."+given.Name+"] and approve it with jp trust --mcp, or start jp acp with --trust-client-mcp.")
		case !serverName.MatchString(given.Name) || has(r.Config.MCP, given.Name) || has(start, given.Name):
			s.notice("warning", "jp does not start the MCP server "+given.Name+" of the editor: the name is taken, or is no name of a server.")
		default:
			start[given.Name] = wanted
		}
	}
	return start
}

func has(all map[string]config.MCP, name string) bool {
	_, found := all[name]
	return found
}

// sameServer reports whether a server is started by the same command with the same variables.
func sameServer(a, b config.MCP) bool {
	return slices.Equal(a.Command, b.Command) && slices.Equal(slices.Sorted(maps.Keys(a.Env)), slices.Sorted(maps.Keys(b.Env)))
}

// trusted reports whether a server is one of the client's, and those are trusted.
func (s *session) trusted(server *toolset.Server) bool {
	return s.server.TrustMCP && slices.ContainsFunc(s.mcp, func(given mcpServer) bool {
		spec := server.Spec()
		return given.Name == spec.Name && slices.Equal(append([]string{given.Command}, given.Args...), spec.Command)
	})
}
