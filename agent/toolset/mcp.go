package toolset

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/internal/version"
	"jp/tool"
	"jp/tool/mcp"
)

// Servers are the MCP servers of a run. nil is the empty set.
type Servers struct {
	All     []*mcp.Server
	Notices []string // for the user
}

// NewServer makes a server of the configuration, without starting it.
func NewServer(r *repo.Repo, e *repo.Host, name string) *mcp.Server {
	set := r.Config.MCP[name]
	return mcp.NewServer(mcp.Spec{Name: name, Command: set.Command, Env: set.Env, URL: set.URL, Headers: set.Headers}, mcp.Options{
		Private: r.Config.Web.Private, Header: func(header, value string) (string, error) { return headerValue(r, e, name, header, value) },
		Approvals: mcp.Approvals{Dir: filepath.Join(r.Paths.StateDir, "mcp"), Root: r.At.TopLevel, Holds: r.At.Holds}, Dir: r.At.TopLevel, Environ: e.Environ, Secret: keyNames(r), Version: version.Get().Version,
		StartTimeout: set.StartTimeout,
		Client:       clientOf(r, e, name, set),
		Tokens:       mcp.Tokens{Dir: filepath.Join(r.Paths.StateDir, "mcp-tokens"), Secret: func(value string) { r.Values.Add(value) }},
	})
}

// clientOf is the client that the user has registered for a server.
func clientOf(r *repo.Repo, e *repo.Host, name string, set config.MCP) mcp.Client {
	c := mcp.Client{ID: set.ClientID, Port: int(set.RedirectPort)}
	if set.ClientSecret != "" {
		c.Secret = func() (string, error) { return secretValue(r, e, "mcp."+name+".client_secret", set.ClientSecret) }
	}
	return c
}

// headerValue is the value of a server's header: an environment variable that it names, or its text. jp keeps
// the value out of all records.
func headerValue(r *repo.Repo, e *repo.Host, server, header, value string) (string, error) {
	return secretValue(r, e, "mcp."+server+".headers."+header, value)
}

// secretValue is an environment variable that a setting names, or its text.
func secretValue(r *repo.Repo, e *repo.Host, key, value string) (string, error) {
	variable, named := strings.CutPrefix(value, "$")
	if named {
		value = strings.TrimSpace(e.Get(variable))
	}
	if value == "" {
		return "", fmt.Errorf("%s: %s is not set", safetext.Show(key), safetext.Show(variable))
	}
	r.Values.Add(value)
	return value, nil
}

// ApprovedWhole reports whether all known offers of a server are approved, and it starts from the approved
// files.
func ApprovedWhole(state mcp.State) bool {
	return ApprovedOffers(state) && len(state.Files) == 0
}

// ApprovedOffers reports whether all known offers of a server are approved, whether or not its files are.
func ApprovedOffers(state mcp.State) bool {
	return state.Approved && !slices.ContainsFunc(state.Changes, func(c mcp.Change) bool { return c.Is != nil })
}

// Unavailable names the missing offers of a server, with the reason.
func Unavailable(name string, state mcp.State) string {
	what := "its tools are not approved, and"
	if state.Approved && len(state.Files) > 0 {
		what = ChangedFiles(state.Files) + " since you approved its tools. They"
	} else if state.Approved {
		var names []string
		for _, c := range state.Changes {
			if c.Is != nil {
				names = append(names, safetext.Show(c.Name()))
			}
		}
		what = "these tools are not as you approved them: " + strings.Join(names, ", ") + ", and"
	}
	return fmt.Sprintf("The MCP server %s: %s are left out; %s shows and approves them.", safetext.Show(name), what, action.TrustServer(name))
}

// ChangedFiles says how files changed, as the start of a sentence.
func ChangedFiles(changes []mcp.FileChange) string {
	words := map[string]string{"new": "appeared", "changed": "changed", "gone": "went away"}
	var said []string
	for _, c := range changes {
		said = append(said, safetext.Show(c.Name)+" "+words[c.What])
	}
	return strings.Join(said, ", ")
}

func (s *Servers) every() []*mcp.Server {
	if s == nil {
		return nil
	}
	return s.All
}

// Tools are those that may be offered. A command of the same name wins over a server's tool.
func (s *Servers) Tools(tables map[string]config.Tool) []tool.Tool {
	var tools []tool.Tool
	for _, server := range s.every() {
		for _, t := range server.Tools(func(name string) bool { return tables[name].Mutates != nil && !*tables[name].Mutates }) {
			if len(tables[t.Definition().Name].Command) == 0 {
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// Unknown adds a notice for each table of a server's tool that no server offers. This is no mistake, since a
// server decides about its offers.
func (s *Servers) Unknown(registry *tool.Registry, r *repo.Repo) {
	if s == nil {
		return
	}
	told := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(r.Report.Origins)) {
		rest, isTool := strings.CutPrefix(key, "tools.")
		name, _, _ := strings.Cut(rest, ".")
		_, offered := registry.Lookup(name)
		origin := r.Report.Origins[key]
		if !isTool || !IsServerTool(name) || offered || told[name] || origin.Layer == config.LayerConversation {
			continue
		}
		told[name] = true
		s.Notices = append(s.Notices, fmt.Sprintf("%v: tools.%s has no effect: no MCP server offers such a tool, or none that is approved", origin, name))
	}
}

// Told are the notices.
func (s *Servers) Told() []string {
	if s == nil {
		return nil
	}
	return s.Notices
}

// Explain adds to an error about a missing tool the server that needs an approval first.
func (s *Servers) Explain(name string, f *problem.Error) *problem.Error {
	for _, server := range s.every() {
		spec := server.Spec()
		if strings.HasPrefix(name, mcp.Prefix+spec.Name+"__") && !ApprovedWhole(server.State()) {
			f.Hint(action.TrustServer(spec.Name), "approves what this server offers")
		}
	}
	return f
}

func IsServerTool(name string) bool { return strings.HasPrefix(name, mcp.Prefix) }

// Close ends all servers, and returns when they have ended.
func (s *Servers) Close() {
	var ending sync.WaitGroup
	for _, server := range s.every() {
		ending.Go(server.Close)
	}
	ending.Wait()
}
