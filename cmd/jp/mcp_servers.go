package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jp/config"
	"jp/internal/safetext"
	"jp/tool"
	"jp/tool/mcp"
)

// servers are the MCP servers of a run. Nil is none.
type servers struct {
	all     []*mcp.Server
	notices []string // what the user is to know of them
}

// server makes a server of the configuration. It does not run yet.
func (r *repo) server(e *host, name string) *mcp.Server {
	set := r.config.MCP[name]
	return mcp.NewServer(mcp.Spec{Name: name, Command: set.Command, Env: set.Env}, mcp.Options{
		Approvals: mcp.Approvals{Dir: filepath.Join(r.paths.StateDir, "mcp"), Root: r.TopLevel, Holds: r.Holds}, Dir: r.TopLevel, Environ: e.environ, Secret: r.keyNames(), Version: version(),
		StartTimeout: set.StartTimeout,
	})
}

// openServers finds the servers that the configuration names, once, and asks the
// user about what they have not approved. Where nobody can be asked, or the turn
// has no tools, no server is started. A child has those of its parent.
func (q *query) openServers(ctx context.Context) error {
	switch {
	case q.servers != nil || q.repo.TopLevel == "":
		return nil
	case q.parent != nil:
		q.servers = q.parent.servers
		return nil
	}
	q.servers = &servers{}
	for _, name := range slices.Sorted(maps.Keys(q.repo.config.MCP)) {
		s := q.repo.server(q.env, name)
		q.servers.all = append(q.servers.all, s)
		if err := q.approveServer(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// approveServer sees to it that what a server offers is approved, or left out.
func (q *query) approveServer(ctx context.Context, s *mcp.Server) error {
	if approvedWhole(s.State()) || q.opts.noTools && !slices.ContainsFunc(q.opts.tools, isServerTool) {
		return nil
	}
	q.findUser()
	if q.user == nil {
		q.servers.notices = append(q.servers.notices, leftOut(s.Spec().Name, s.State()))
		return nil
	}
	err := q.user.Approve(ctx, s)
	var failed *mcp.StartError
	if errors.As(err, &failed) {
		q.servers.notices = append(q.servers.notices, fmt.Sprintf("mcp.%s has no effect: %v", s.Spec().Name, err))
		return nil
	}
	return err
}

// approvedWhole reports whether a server offers nothing, as far as is known, that
// was not approved, and starts from the files that were.
func approvedWhole(state mcp.State) bool {
	return approvedOffers(state) && len(state.Files) == 0
}

// approvedOffers reports whether all that a server offers, as far as is known, was
// approved, from whichever files it starts.
func approvedOffers(state mcp.State) bool {
	return state.Approved && !slices.ContainsFunc(state.Changes, func(c mcp.Change) bool { return c.Is != nil })
}

// leftOut says what of a server is not offered, and how it comes to be.
func leftOut(name string, state mcp.State) string {
	what := "its tools are not approved, and"
	if state.Approved && len(state.Files) > 0 {
		what = changedFiles(state.Files) + " since you approved its tools. They"
	} else if state.Approved {
		var names []string
		for _, c := range state.Changes {
			if c.Is != nil {
				names = append(names, safetext.Show(c.Name()))
			}
		}
		what = "these tools are not as you approved them: " + strings.Join(names, ", ") + ", and"
	}
	return fmt.Sprintf("The MCP server %s: %s are left out; jp trust --mcp %s shows and approves them.", safetext.Show(name), what, safetext.Escape(name))
}

// changedFiles says how files changed, as the start of a sentence.
func changedFiles(changes []mcp.FileChange) string {
	words := map[string]string{"new": "appeared", "changed": "changed", "gone": "went away"}
	var said []string
	for _, c := range changes {
		said = append(said, safetext.Show(c.Name)+" "+words[c.What])
	}
	return strings.Join(said, ", ")
}

func (s *servers) every() []*mcp.Server {
	if s == nil {
		return nil
	}
	return s.all
}

// tools are those that may be offered. A command of that name stands before a
// server's tool.
func (s *servers) tools(tables map[string]config.Tool) []tool.Tool {
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

// unknown says of each table for a server's tool that nothing of this name is
// offered: that is no mistake, since a server decides what it offers.
func (s *servers) unknown(registry *tool.Registry, r *repo) {
	if s == nil {
		return
	}
	told := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(r.report.Origins)) {
		rest, isTool := strings.CutPrefix(key, "tools.")
		name, _, _ := strings.Cut(rest, ".")
		_, offered := registry.Lookup(name)
		origin := r.report.Origins[key]
		if !isTool || !isServerTool(name) || offered || told[name] || origin.Layer == config.LayerConversation {
			continue
		}
		told[name] = true
		s.notices = append(s.notices, fmt.Sprintf("%v: tools.%s has no effect: no MCP server offers such a tool, or none that is approved", origin, name))
	}
}

// told are the notices.
func (s *servers) told() []string {
	if s == nil {
		return nil
	}
	return s.notices
}

// explain adds to an error about a tool that there is not which server has to be
// approved first.
func (s *servers) explain(name string, f *failure) *failure {
	for _, server := range s.every() {
		spec := server.Spec()
		if strings.HasPrefix(name, mcp.Prefix+spec.Name+"__") && !approvedWhole(server.State()) {
			f.hint("jp trust --mcp "+safetext.Escape(spec.Name), "approves what this server offers")
		}
	}
	return f
}

func isServerTool(name string) bool { return strings.HasPrefix(name, mcp.Prefix) }

// close ends all servers, and returns when they have ended.
func (s *servers) close() {
	var ending sync.WaitGroup
	for _, server := range s.every() {
		ending.Go(server.Close)
	}
	ending.Wait()
}
