package acp

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"jp/agent/repo"
	"jp/config"
	"jp/internal/safetext"
)

// serverName is how an MCP server may be called.
var serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`) })

// servers are the MCP servers of the client that start: with --trust-client-mcp. One that the user's
// configuration has too, word for word, starts as that, if the user approved it. tell gets the reasons for
// the others.
func (s *session) servers(r *repo.Repo, tell func(why string)) map[string]config.MCP {
	start := map[string]config.MCP{}
	for _, given := range s.mcp {
		env := map[string]string{}
		for _, v := range given.Env {
			env[v.Name] = v.Value
		}
		name := safetext.Show(given.Name)
		wanted, odd := config.MCP{}, given.Type != "" && given.Type != "http"
		if given.Type == "http" {
			wanted.URL, wanted.Headers = given.URL, map[string]string{}
			for _, h := range given.Headers {
				wanted.Headers[h.Name] = h.Value
				odd = odd || strings.HasPrefix(h.Value, "$") // it would name a variable of jp's
			}
		} else {
			wanted.Command, wanted.Env = append([]string{given.Command}, given.Args...), env
		}
		switch {
		case slices.ContainsFunc(slices.Collect(maps.Values(r.Config.MCP)), func(c config.MCP) bool {
			return c.URL == wanted.URL && slices.Equal(slices.Sorted(maps.Keys(c.Headers)), slices.Sorted(maps.Keys(wanted.Headers))) &&
				slices.Equal(c.Command, wanted.Command) && slices.Equal(slices.Sorted(maps.Keys(c.Env)), slices.Sorted(maps.Keys(wanted.Env)))
		}):
		case odd || given.Command == "" && given.URL == "":
			tell("jp does not use the MCP server " + name + " of the editor: want a program, or an address over HTTP with plain headers.")
		case !s.server.TrustMCP:
			tell("jp does not use the MCP server " + name + " of the editor. Add it to your configuration as [mcp." + name + "] and approve it with jp trust --mcp, or start jp acp with --trust-client-mcp.")
		case !serverName().MatchString(given.Name) || has(r.Config.MCP, given.Name) || has(start, given.Name):
			tell("jp does not use the MCP server " + name + " of the editor: the name is taken, or is no name of a server.")
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
