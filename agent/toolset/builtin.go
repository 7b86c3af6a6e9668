package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/tool"
	"jp/tool/fs"
	"jp/tool/gittool"
	"jp/tool/recall"
	"jp/tool/shell"
	"jp/tool/work"
)

// Builtins are jp's own tools, over one working tree.
func Builtins(r *repo.Repo, e *repo.Host) ([]tool.Tool, error) {
	git := gitcmd.At(r.At, e.GitOptions())
	files, err := fs.Tools(r.At.TopLevel, fs.Options{Git: git, Protected: []string{r.At.GitDir, r.At.CommonDir, r.Paths.UserFile, r.Paths.OwnFiles(), r.Paths.StateDir}})
	if err != nil {
		return nil, err
	}
	walls := SandboxOf(r, e)
	commands, err := shell.Tools(r.At.TopLevel, shell.Options{
		Environ: e.Environ, Home: e.Get("HOME"), Secret: keyNames(r), Timeout: shellTime(r), Launch: walls.launcher(), Online: walls.online(), Note: walls.note(), Readers: walls.readers(r, e),
	})
	if err != nil {
		return nil, err
	}
	commits := gittool.Options{
		Changed: func(ctx context.Context, id conversation.ID) (recorded, unrecorded []string, err error) {
			return snapshot.ChangedByTools(ctx, r, id)
		},
	}
	if r.Config.Git.Trailers {
		commits.Model = func(ctx context.Context, id conversation.ID) string {
			info, _ := r.Store.Info(ctx, id) // if unknown the trailer is left out
			return info.Summary.Model
		}
	}
	return slices.Concat(files, gittool.Tools(git, commits), commands), nil
}

type configured struct {
	tool.Tool
	def *tool.Definition
}

func (c configured) Definition() *tool.Definition { return c.def }

// Prepare makes the tool ready, if it has to be.
func (c configured) Prepare(ctx context.Context) error {
	if p, is := c.Tool.(tool.Preparer); is {
		return p.Prepare(ctx)
	}
	return nil
}

// Configure applies its settings to a tool.
func Configure(t tool.Tool, tables map[string]config.Tool) tool.Tool {
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

// Ruled is a tool with a rule for the calls that need no question.
func Ruled(t tool.Tool, rule func(arguments json.RawMessage, events []*conversation.Event) string) tool.Tool {
	def := *t.Definition()
	def.Rule = rule
	return configured{Tool: t, def: &def}
}

// tablesOf are the tables of the configuration for a tool. Later ones win.
func tablesOf(name string) []string {
	if slices.Contains(recall.Names(), name) {
		return []string{recall.Group, name}
	}
	return []string{name}
}

// Enabled reports whether the configuration has a tool on. By default all are on, except recall and the tools
// for delegates only.
func Enabled(name string, tables map[string]config.Tool) bool {
	of := tablesOf(name)
	on := of[0] != recall.Group && name != work.StateName
	for _, table := range of {
		if enable := tables[table].Enable; enable != nil {
			on = *enable
		}
	}
	return on
}

// UnknownTools are the mistakes in tables of tools: an unknown tool, and settings that only a command can
// have. A conversation may name a former tool, and a command reports its own mistakes.
func UnknownTools(registry *tool.Registry, r *repo.Repo) (wrong []*config.Error) {
	for _, key := range slices.Sorted(maps.Keys(r.Report.Origins)) {
		origin := r.Report.Origins[key]
		rest, isTool := strings.CutPrefix(key, "tools.")
		name, field, _ := strings.Cut(rest, ".")
		if !isTool || len(r.Config.Tools[name].Command) > 0 || origin.Layer == config.LayerConversation {
			continue
		}
		setting, _, _ := strings.Cut(field, ".")
		_, known := registry.Lookup(name)
		switch fixed := slices.Contains(ofCommands, setting); {
		case IsServerTool(name) && fixed && setting != "mutates":
			wrong = append(wrong, config.Mistake(origin, key, "what "+name+" does and takes is what its server says"))
		case IsServerTool(name):
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
