package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"jp/agent/toolset"
	"jp/tool/mcp"
)

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
	q.servers = &toolset.Servers{}
	for _, name := range slices.Sorted(maps.Keys(q.repo.Config.MCP)) {
		s := toolset.NewServer(q.repo, q.env, name)
		q.servers.All = append(q.servers.All, s)
		if err := q.approveServer(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// approveServer sees to it that what a server offers is approved, or left out.
func (q *query) approveServer(ctx context.Context, s *mcp.Server) error {
	if toolset.ApprovedWhole(s.State()) || q.opts.NoTools && !slices.ContainsFunc(q.opts.Tools, toolset.IsServerTool) {
		return nil
	}
	q.findUser()
	if q.user == nil {
		q.servers.Notices = append(q.servers.Notices, toolset.LeftOut(s.Spec().Name, s.State()))
		return nil
	}
	err := q.user.Approve(ctx, s)
	var failed *mcp.StartError
	if errors.As(err, &failed) {
		q.servers.Notices = append(q.servers.Notices, fmt.Sprintf("mcp.%s has no effect: %v", s.Spec().Name, err))
		return nil
	}
	return err
}
