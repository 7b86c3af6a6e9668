package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"jp/agent/problem"
	"jp/agent/toolset"
	"jp/internal/action"
	"jp/tool/mcp"
)

// openServers finds the servers of the configuration, once, and asks the user about unapproved offers. It
// starts no server if there is no user to ask, or the turn is without tools. A child has the servers of its
// parent.
func (e *turn) openServers(ctx context.Context) error {
	switch {
	case e.res.servers != nil || e.run.repo.At.TopLevel == "":
		return nil
	case e.run.delegation != nil:
		e.res.servers = e.run.delegation.servers
		return nil
	}
	e.res.servers = &toolset.Servers{}
	toolset.AddServers(e.run.repo, e.run.opts.Tools.Servers)
	for _, name := range slices.Sorted(maps.Keys(e.run.repo.Config.MCP)) {
		s := toolset.NewServer(e.run.repo, e.run.env, name)
		e.res.servers.All = append(e.res.servers.All, s)
		if err := e.approveServer(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// approveServer sees to it that the offers of a server are approved, or left out.
func (e *turn) approveServer(ctx context.Context, s *mcp.Server) error {
	if toolset.ApprovedWhole(s.State()) || e.run.opts.Tools.None && !slices.ContainsFunc(e.run.opts.Tools.Enable, toolset.IsServerTool) {
		return nil
	}
	e.run.findUser()
	if e.res.user == nil {
		e.res.servers.Notices = append(e.res.servers.Notices, toolset.Unavailable(s.Spec().Name, s.State()))
		return nil
	}
	err := e.unlocked(ctx, func() error { return e.res.user.Approve(ctx, s) })
	var failed *mcp.StartError
	if errors.As(err, &failed) {
		e.res.servers.Notices = append(e.res.servers.Notices, fmt.Sprintf("mcp.%s has no effect: %v", s.Spec().Name, err))
		return nil
	}
	return err
}

// resource reads a resource of a server whose tools are approved, for the user, who named it.
func (e *turn) resource(ctx context.Context, name, uri string) ([]byte, error) {
	s, err := e.approvedServer(name)
	if err != nil {
		return nil, err
	}
	return s.ReadResource(ctx, uri)
}

// approvedServer is the server of a name, if its tools are approved.
func (e *turn) approvedServer(name string) (*mcp.Server, error) {
	if e.res.servers != nil {
		for _, s := range e.res.servers.All {
			if s.Spec().Name != name {
				continue
			}
			if !toolset.ApprovedWhole(s.State()) {
				return nil, problem.Usage("the MCP server %s is not approved", name).Hint(action.TrustServer(name), "shows and approves what it offers")
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no MCP server %s", name)
}
