package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/tool"
	"jp/tool/delegate"
	"jp/tool/fs"
	"jp/tool/gittool"
	"jp/tool/recall"
	"jp/tool/shell"
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
	q.servers.unknown(registry, q.repo)
	names := q.toolNames(registry)
	for _, name := range slices.Concat(q.opts.tools, q.opts.withoutTools) {
		if _, ok := registry.Lookup(name); !ok {
			return nil, q.servers.explain(name, usage("there is no tool %q.", name))
		}
	}
	if q.opts.noPersist {
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
		return nil, wrongSetting(wrong[0])
	}
	return registry, err
}

// judgedTools are the tools that there are, and what is wrong with their settings.
func (q *query) judgedTools() (*tool.Registry, []*config.Error, error) {
	all, err := builtins(q.repo, q.env)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, recall.Tools(q.repo.store)...)
	all = append(all, delegate.Tool(children{q}), delegate.StateTool())
	all = append(all, q.servers.tools(q.repo.config.Tools)...)
	for i, t := range all {
		all[i] = configure(t, q.repo.config.Tools)
	}
	commands, wrong := q.repo.commands(q.env, all)
	registry, err := tool.NewRegistry(append(all, commands...)...)
	if err != nil {
		return nil, wrong, err
	}
	return registry, append(wrong, unknownTools(registry, q.repo)...), nil
}

func (q *query) toolNames(registry *tool.Registry) []string {
	var names []string
	works := q.worksFor() != ""
	for _, def := range registry.Definitions() {
		if works && def.Name == delegate.Name {
			continue // a delegate has none of its own
		}
		on := !q.opts.noTools && enabled(def.Name, q.repo.config.Tools)
		on = on || slices.Contains(q.opts.tools, def.Name)
		if on && !slices.Contains(q.opts.withoutTools, def.Name) {
			names = append(names, def.Name)
		}
	}
	return names
}

// builtins are jp's own tools, over one working tree.
func builtins(r *repo, e *host) ([]tool.Tool, error) {
	git := gitcmd.At(r.Repository, e.gitOptions())
	files, err := fs.Tools(r.TopLevel, fs.Options{Git: git, Protected: []string{r.GitDir, r.CommonDir, r.paths.UserFile, r.paths.StateDir}})
	if err != nil {
		return nil, err
	}
	walls := r.walls(e)
	commands, err := shell.Tools(r.TopLevel, shell.Options{
		Environ: e.environ, Secret: r.keyNames(), Timeout: r.shellTime(), Launch: walls.launcher(), Note: walls.note(),
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(files, gittool.Tools(git, gittool.Options{
		Changed: func(ctx context.Context, id conversation.ID) (recorded, unrecorded []string, err error) {
			return r.changedByTools(ctx, id)
		},
	}), commands), nil
}

// configured is a tool with what the configuration says of it.
type configured struct {
	tool.Tool
	def *tool.Definition
}

// Definition is the tool's own, as it was configured.
func (c configured) Definition() *tool.Definition { return c.def }

// Prepare makes the tool ready, if it has to be.
func (c configured) Prepare(ctx context.Context) error {
	if p, is := c.Tool.(tool.Preparer); is {
		return p.Prepare(ctx)
	}
	return nil
}

func configure(t tool.Tool, tables map[string]config.Tool) tool.Tool {
	for _, name := range tablesOf(t.Definition().Name) {
		table, ok := tables[name]
		if !ok || len(table.Command) > 0 {
			continue
		}
		def := *t.Definition()
		adjust(&def, table)
		t = configured{Tool: t, def: &def}
	}
	return t
}

// unknownTools are the tables of tools that there are not, and what only a command can
// be told. A conversation may name one that there was, and what is wrong with a command
// is said of the command.
func unknownTools(registry *tool.Registry, r *repo) (wrong []*config.Error) {
	for _, key := range slices.Sorted(maps.Keys(r.report.Origins)) {
		origin := r.report.Origins[key]
		rest, isTool := strings.CutPrefix(key, "tools.")
		name, field, _ := strings.Cut(rest, ".")
		if !isTool || len(r.config.Tools[name].Command) > 0 || origin.Layer == config.LayerConversation {
			continue
		}
		setting, _, _ := strings.Cut(field, ".")
		_, known := registry.Lookup(name)
		switch fixed := slices.Contains(ofCommands, setting); {
		case isServerTool(name) && fixed && setting != "mutates":
			wrong = append(wrong, config.Mistake(origin, key, "what "+name+" does and takes is what its server says"))
		case isServerTool(name):
		case !known && name != recall.Group:
			wrong = append(wrong, config.Mistake(origin, "tools."+name, fmt.Sprintf("there is no tool %q", name)))
		case fixed:
			wrong = append(wrong, config.Mistake(origin, key, name+" is jp's own: what it does and takes is fixed"))
		}
	}
	return wrong
}

// ofCommands are the settings that make a tool of a program.
var ofCommands = []string{"description", "mutates", "parameters"}

// toolLock is the lock that lives as long as a tool run.
func (q *query) toolLock(seq int) (*os.File, func(), error) {
	return q.repo.locks.Tool(q.id, seq, q.toolPlace())
}

// toolPlace is the working tree in the words of tools' locks: its id, "." for the
// main one, and "" where it has no id.
func (q *query) toolPlace() string {
	if q.repo.GitDir == q.repo.CommonDir {
		return "."
	}
	return q.files.id
}

// outlived says whether a tool of another conversation still runs in this working
// tree though its jp has ended, and tells the user, once of each.
func (q *query) outlived() bool {
	ids := q.repo.locks.Outlived(q.toolPlace())
	for _, id := range ids {
		if !slices.Contains(q.toldOutlived, id) {
			q.toldOutlived = append(q.toldOutlived, id)
			q.files.tell(fmt.Sprintf("A tool of %s still runs here, though its jp has ended: its changes cannot be told from those of this turn's tools. jp kill %s ends it.", id, id.Short()))
		}
	}
	return len(ids) > 0
}

// holdNotice is how long the right to change files is waited for in silence.
const holdNotice = 300 * time.Millisecond

// hold takes the right to change files.
func (f *files) hold(ctx context.Context) (func(), error) {
	if f.tree == nil {
		return func() {}, nil
	}
	soon, cancel := context.WithTimeout(ctx, holdNotice)
	defer cancel()
	release, err := f.tree.LockMutation(soon)
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		f.tell("Another jp changes files in this working tree; waiting for it.")
		release, err = f.tree.LockMutation(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return release, err
}

func pid() int { return os.Getpid() }
