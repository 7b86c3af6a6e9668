package agent

import (
	"context"
	"fmt"
	"os"
	"slices"

	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/config"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/internal/version"
	"jp/tool"
	"jp/tool/recall"
	"jp/tool/web"
	"jp/tool/work"
)

// tools are the tools of this turn: those of the configuration, or with -T none of them, plus those of -t and
// without those of --no-tool. An unrecorded turn has only those that read.
func (e *turn) tools() (*tool.Registry, error) {
	if e.run.repo.At.TopLevel == "" {
		return tool.NewRegistry()
	}
	registry, err := e.allTools()
	if err != nil {
		return nil, err
	}
	e.res.servers.Unknown(registry, e.run.repo)
	if e.run.opts.Tools.Buffers != nil {
		if registry, err = editing(registry, e.run.repo.At.TopLevel, e.run.opts.Tools.Buffers); err != nil {
			return nil, err
		}
	}
	if registry, err = e.unasked(registry); err != nil {
		return nil, err
	}
	names := enabledTools(registry, e.run.repo.Config.Tools, e.run.opts, e.history.worksFor() != "")
	for _, name := range slices.Concat(e.run.opts.Tools.Enable, e.run.opts.Tools.Disable) {
		if _, ok := registry.Lookup(name); !ok {
			return nil, e.res.servers.Explain(name, noTool(registry, name))
		}
	}
	if e.run.opts.NoPersist {
		changes := func(name string) bool {
			t, found := registry.Lookup(name)
			return found && t.Definition().Effect != tool.Reads
		}
		for _, name := range e.run.opts.Tools.Enable {
			if changes(name) {
				return nil, problem.Usage("%s may change things; with --no-persist the model only reads.", safetext.Show(name))
			}
		}
		names = slices.DeleteFunc(names, changes)
	}
	if !e.res.skills.Any() && !slices.Contains(e.run.opts.Tools.Enable, contextfiles.SkillToolName) {
		names = slices.DeleteFunc(names, func(name string) bool { return name == contextfiles.SkillToolName })
	}
	return registry.Only(names...)
}

// editing are tools beside an editor.
func editing(registry *tool.Registry, root string, read toolset.BufferReader) (*tool.Registry, error) {
	all := registry.All()
	for i, t := range all {
		all[i] = toolset.Buffered(t, root, read)
	}
	return tool.NewRegistry(all...)
}

func (e *turn) allTools() (*tool.Registry, error) {
	registry, wrong, err := judgedTools(e.run.repo, e.run.env, e.res.servers, e.delegates, e.openSkills())
	if len(wrong) > 0 {
		return nil, repo.WrongSetting(wrong[0])
	}
	return registry, err
}

// judgedTools are all tools, and the mistakes in their settings.
func judgedTools(r *repo.Repo, host *repo.Host, servers *toolset.Servers, delegates work.Runner, known *contextfiles.Skills) (*tool.Registry, []*config.Error, error) {
	all, err := toolset.Builtins(r, host)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, recall.Tools(r.Store)...)
	all = append(all, recall.EventTool(), work.PlanTool(), web.Tool(web.Options{Private: r.Config.Web.Private, Allow: r.Config.Web.Allow, Composed: r.Config.Web.AllowComposed, Agent: "jp/" + version.Get().Version}), contextfiles.SkillTool(known), work.DelegateTool(delegates), work.StateTool())
	all = append(all, servers.Tools(r.Config.Tools)...)
	for i, t := range all {
		all[i] = toolset.Configure(t, r.Config.Tools)
	}
	commands, wrong := toolset.Commands(r, host, all)
	registry, err := tool.NewRegistry(append(all, commands...)...)
	if err != nil {
		return nil, wrong, err
	}
	return registry, append(wrong, toolset.UnknownTools(registry, r)...), nil
}

// enabledTools are those that a request switches on, in a conversation that works for another
// one or for the user.
func enabledTools(registry *tool.Registry, configured map[string]config.Tool, o Request, works bool) []string {
	var names []string
	for _, def := range registry.Definitions() {
		if works && def.Name == work.DelegateName {
			continue // a delegate has no delegates
		}
		on := !o.Tools.None && toolset.Enabled(def.Name, configured)
		on = on || slices.Contains(o.Tools.Enable, def.Name)
		if on && !slices.Contains(o.Tools.Disable, def.Name) {
			names = append(names, def.Name)
		}
	}
	return names
}

// toolLock is the lock that lives as long as a tool run.
func (t *target) toolLock(seq int) (*os.File, func(), error) {
	return t.run.repo.Locks.Tool(t.id, seq, t.toolPlace())
}

// toolPlace is the working tree in the words of tools' locks: its id, "." for the main one, and "" without an
// id.
func (t *target) toolPlace() string {
	if t.run.repo.At.GitDir == t.run.repo.At.CommonDir {
		return "."
	}
	return t.res.files.ID
}

// orphanedTool reports whether a tool of another conversation still runs in this working tree though its jp
// has ended, and tells the user, once of each.
func (e *turn) orphanedTool() bool {
	ids := e.run.repo.Locks.OrphanedTools(e.target.toolPlace())
	for _, id := range ids {
		if !slices.Contains(e.toldOutlived, id) {
			e.toldOutlived = append(e.toldOutlived, id)
			e.res.files.Tell(fmt.Sprintf("A tool of %s still runs here, though its jp has ended: its changes cannot be told from those of this turn's tools. %s ends it.", id, action.Kill(id.Short())))
		}
	}
	return len(ids) > 0
}

// namedTools are the tools that may name files: jp's own, until the servers were asked for theirs.
func (e *turn) namedTools() (*tool.Registry, error) {
	if e.registry != nil {
		return e.registry, nil
	}
	return e.tools()
}

// openTools finds the tools of this turn, once, with those of servers.
func (e *turn) openTools(ctx context.Context) (_ *tool.Registry, err error) {
	if e.registry == nil {
		if err := e.openServers(ctx); err != nil {
			return nil, err
		}
		e.registry, err = e.tools()
	}
	return e.registry, err
}
