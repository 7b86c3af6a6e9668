package agent

import (
	"context"
	"fmt"
	"os"
	"slices"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/config"
	"jp/tool"
	"jp/tool/delegate"
	"jp/tool/event"
	"jp/tool/recall"
)

// tools are the tools of this turn: those that the configuration has switched
// on, or none with -T, with those that -t adds and without those of --no-tool.
func (q *query) tools() (*tool.Registry, error) {
	if q.repo.TopLevel == "" {
		return tool.NewRegistry()
	}
	registry, err := q.allTools()
	if err != nil {
		return nil, err
	}
	q.servers.Unknown(registry, q.repo)
	names := q.toolNames(registry)
	for _, name := range slices.Concat(q.opts.Tools, q.opts.WithoutTools) {
		if _, ok := registry.Lookup(name); !ok {
			return nil, q.servers.Explain(name, problem.Usage("there is no tool %q.", name))
		}
	}
	if q.opts.NoPersist {
		if names, err = q.readers(registry, names); err != nil {
			return nil, err
		}
	}
	return registry.Only(names...)
}

// allTools are the tools that there are, as they are configured.
func (q *query) allTools() (*tool.Registry, error) {
	registry, wrong, err := q.judgedTools()
	if len(wrong) > 0 {
		return nil, repo.WrongSetting(wrong[0])
	}
	return registry, err
}

// judgedTools are the tools that there are, and what is wrong with their settings.
func (q *query) judgedTools() (*tool.Registry, []*config.Error, error) {
	all, err := toolset.Builtins(q.repo, q.env)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, recall.Tools(q.repo.Store)...)
	all = append(all, event.Tool(), delegate.Tool(children{q}), delegate.StateTool())
	all = append(all, q.servers.Tools(q.repo.Config.Tools)...)
	for i, t := range all {
		all[i] = toolset.Configure(t, q.repo.Config.Tools)
	}
	commands, wrong := toolset.Commands(q.repo, q.env, all)
	registry, err := tool.NewRegistry(append(all, commands...)...)
	if err != nil {
		return nil, wrong, err
	}
	return registry, append(wrong, toolset.UnknownTools(registry, q.repo)...), nil
}

func (q *query) toolNames(registry *tool.Registry) []string {
	var names []string
	works := q.worksFor() != ""
	for _, def := range registry.Definitions() {
		if works && def.Name == delegate.Name {
			continue // a delegate has none of its own
		}
		on := !q.opts.NoTools && toolset.Enabled(def.Name, q.repo.Config.Tools)
		on = on || slices.Contains(q.opts.Tools, def.Name)
		if on && !slices.Contains(q.opts.WithoutTools, def.Name) {
			names = append(names, def.Name)
		}
	}
	return names
}

// toolLock is the lock that lives as long as a tool run.
func (q *query) toolLock(seq int) (*os.File, func(), error) {
	return q.repo.Locks.Tool(q.id, seq, q.toolPlace())
}

// toolPlace is the working tree in the words of tools' locks: its id, "." for the
// main one, and "" where it has no id.
func (q *query) toolPlace() string {
	if q.repo.GitDir == q.repo.CommonDir {
		return "."
	}
	return q.files.ID
}

// outlived says whether a tool of another conversation still runs in this working
// tree though its jp has ended, and tells the user, once of each.
func (q *query) outlived() bool {
	ids := q.repo.Locks.Outlived(q.toolPlace())
	for _, id := range ids {
		if !slices.Contains(q.toldOutlived, id) {
			q.toldOutlived = append(q.toldOutlived, id)
			q.files.Tell(fmt.Sprintf("A tool of %s still runs here, though its jp has ended: its changes cannot be told from those of this turn's tools. jp kill %s ends it.", id, id.Short()))
		}
	}
	return len(ids) > 0
}

// namedTools are the tools of which some name files: those of jp's own, where the
// servers have not been asked for theirs.
func (q *query) namedTools() (*tool.Registry, error) {
	if q.registry != nil {
		return q.registry, nil
	}
	return q.tools()
}

// openTools finds the tools of this turn, once, with those of servers.
func (q *query) openTools(ctx context.Context) (_ *tool.Registry, err error) {
	if q.registry == nil {
		if err := q.openServers(ctx); err != nil {
			return nil, err
		}
		q.registry, err = q.tools()
	}
	return q.registry, err
}
